//! A model's weights read where they lie: the safetensors file is mapped into memory, and on flex every tensor is
//! a view of the mapping. Copying 45 MB takes longer than translating a sentence.
//!
//! A mapped file must not be written to in place while it is used. We replace files by renaming, which leaves the
//! old one whole for who has it open.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{AllocationProperty, Bytes, DType, Tensor, TensorData};
use memmap2::MmapOptions;
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use safetensors::{SafeTensors, View};

use super::files::write_aside;
use crate::error::{Error, Result};
use crate::model::names::Path;

/// The weights in a file.
pub(super) struct Weights {
    map: bytes::Bytes,
    metadata: Metadata,
    /// Where the first number lies.
    first: usize,
}

impl Weights {
    /// Opens a safetensors file.
    ///
    /// # Errors
    /// A file that can't be read or is something else.
    pub fn open(path: &std::path::Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        // SAFETY: nobody writes into the file, see above. All pages are mapped in one call: one by one takes
        // longer.
        let map = unsafe { MmapOptions::new().populate().map(&file) }.map_err(Error::io(path))?;
        Self::of(bytes::Bytes::from_owner(map), path)
    }

    /// Reads a safetensors file that is in memory, called `path` in messages.
    ///
    /// # Errors
    /// Something else than such a file.
    pub fn of(map: bytes::Bytes, path: &std::path::Path) -> Result<Self> {
        let (header, metadata) = SafeTensors::read_metadata(&map)
            .map_err(|why| Error::data(path, format!("not a safetensors file: {why}")))?;
        Ok(Self { first: size_of::<u64>() + header, map, metadata })
    }

    /// The name of each tensor, and how many numbers it has.
    pub fn sizes(&self) -> Vec<(String, usize)> {
        let size = |(name, info): (String, &TensorInfo)| (name, info.shape.iter().product());
        self.metadata.tensors().into_iter().map(size).collect()
    }

    /// The rows of a tensor, if it is there.
    pub fn rows(&self, name: &str) -> Option<usize> {
        self.metadata.info(name)?.shape.first().copied()
    }

    /// A model with these weights in place of its own.
    ///
    /// # Errors
    /// The first tensor that is missing, has another shape or type, or has no place in the model.
    pub fn fill<M: Module>(&self, model: M) -> std::result::Result<M, String> {
        let mut fill = Fill { weights: self, path: Path::default(), taken: Vec::new(), unfit: Vec::new() };
        let model = model.map(&mut fill);
        if let Some((_, why)) = fill.unfit.into_iter().next() {
            return Err(why);
        }
        match self.metadata.offset_keys().into_iter().find(|name| !fill.taken.contains(name)) {
            Some(name) => Err(format!("{name} has no place in the model")),
            None => Ok(model),
        }
    }

    /// A model with those of these weights that have a place in it: how many tensors that is, and which of the model's are not
    /// there, or of another shape.
    pub fn fill_what_fits<M: Module>(&self, model: M) -> (M, usize, Vec<String>) {
        let mut fill = Fill { weights: self, path: Path::default(), taken: Vec::new(), unfit: Vec::new() };
        let model = model.map(&mut fill);
        (model, fill.taken.len(), fill.unfit.into_iter().map(|(name, _)| name).collect())
    }

    /// The name that a tensor has in the file: until projections served every score function, those of `scaled-dot`
    /// were the score's own.
    fn known(&self, name: String) -> String {
        let before = name.replace(".attention.projections.", ".attention.score.");
        if self.metadata.info(&name).is_none() && self.metadata.info(&before).is_some() { before } else { name }
    }

    /// A tensor of this shape.
    ///
    /// # Errors
    /// One that is missing, or has another shape or type.
    pub fn tensor(&self, name: &str, shape: &[usize]) -> std::result::Result<TensorData, String> {
        let info = self.metadata.info(name).ok_or_else(|| format!("{name} is missing"))?;
        if info.dtype != Dtype::F32 || info.shape != shape {
            return Err(format!("{name} is {:?} {:?}, not F32 {shape:?}", info.dtype, info.shape));
        }
        let (from, to) = info.data_offsets;
        let values = self.map.slice(self.first + from..self.first + to);
        // The format asks nobody to align numbers; zhuyi's own files do.
        let bytes = if values.as_ptr().cast::<f32>().is_aligned() {
            Bytes::from_shared(values, AllocationProperty::File)
        } else {
            Bytes::from_elems(values.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect())
        };
        Ok(TensorData::from_bytes(bytes, shape.to_vec(), DType::F32))
    }
}

/// Tensors with their names.
pub(super) type Tensors = Vec<(String, TensorData)>;

/// The parameters of a model.
pub(super) fn of<M: Module>(model: &M) -> Tensors {
    let mut collect = Collect::default();
    model.visit(&mut collect);
    collect.found
}

#[derive(Default)]
struct Collect {
    path: Path,
    found: Tensors,
}

impl ModuleVisitor for Collect {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.found.push((self.path.name(), param.val().to_data().convert::<f32>()));
    }

    fn enter_module(&mut self, name: &str, kind: &str) {
        self.path.enter(name, kind);
    }

    fn exit_module(&mut self, _: &str, kind: &str) {
        self.path.exit(kind);
    }
}

/// Writes tensors into a file, aside, synced and renamed: the same bytes for the same tensors, in any process.
///
/// # Errors
/// What the system refuses; a file that was there before is then still there.
pub(super) fn write(path: &std::path::Path, tensors: Tensors) -> Result<()> {
    let views = tensors.iter().map(|(name, data)| (name, Values(data)));
    // Of one entry: a map of several has another order in each process.
    let metadata = Some(HashMap::from([("zhuyi".to_owned(), env!("CARGO_PKG_VERSION").to_owned())]));
    write_aside(path, |aside| {
        safetensors::serialize_to_file(views, metadata, aside).map_err(|why| match why {
            safetensors::SafeTensorError::IoError(why) => why,
            other => std::io::Error::other(other),
        })?;
        File::open(aside)?.sync_all()
    })
}

/// Numbers in 32 bits as the format wants them.
struct Values<'a>(&'a TensorData);

impl View for Values<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        self.0.shape().as_slice()
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.0.as_bytes().into()
    }

    fn data_len(&self) -> usize {
        self.0.as_bytes().len()
    }
}

struct Fill<'a> {
    weights: &'a Weights,
    path: Path,
    taken: Vec<String>,
    /// What has no tensor here, and why.
    unfit: Vec<(String, String)>,
}

impl ModuleMapper for Fill<'_> {
    fn enter_module(&mut self, name: &str, kind: &str) {
        self.path.enter(name, kind);
    }

    fn exit_module(&mut self, _: &str, kind: &str) {
        self.path.exit(kind);
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.weights.known(self.path.name());
        match self.weights.tensor(&name, &param.dims()) {
            Ok(data) => {
                self.taken.push(name);
                let (id, old, mapper) = param.consume();
                Param::from_mapped_value(id, Tensor::from_data(data, &old.device()), mapper)
            }
            Err(why) => {
                self.unfit.push((name, why));
                param
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::module::Module;
    use burn::tensor::Device;
    use safetensors::tensor::TensorView;

    use super::*;

    #[derive(Module, Debug)]
    struct Two {
        a: Param<Tensor<2>>,
        b: Param<Tensor<1>>,
    }

    fn two() -> Two {
        let device = Device::flex();
        Two {
            a: Param::from_tensor(Tensor::zeros([2, 2], &device)),
            b: Param::from_tensor(Tensor::zeros([1], &device)),
        }
    }

    type Entry = (&'static str, Dtype, Vec<usize>);

    /// A file of tensors that hold 1, 2, 3, … each.
    fn file(entries: &[Entry]) -> Vec<u8> {
        let numbers: Vec<u8> = (1..=4).flat_map(|i| (i as f32).to_le_bytes()).collect();
        let view = |(name, dtype, shape): &Entry| {
            let bytes = shape.iter().product::<usize>() * dtype.bitsize() / 8;
            (*name, TensorView::new(*dtype, shape.clone(), &numbers[..bytes]).unwrap())
        };
        safetensors::serialize(entries.iter().map(view), None).unwrap()
    }

    fn filled(bytes: &[u8]) -> std::result::Result<Two, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.safetensors");
        std::fs::write(&path, bytes).unwrap();
        Weights::open(&path).map_err(|why| why.to_string())?.fill(two())
    }

    const GOOD: fn() -> [Entry; 2] = || [("a", Dtype::F32, vec![2, 2]), ("b", Dtype::F32, vec![1])];

    #[test]
    fn numbers_come_back_also_where_they_are_not_aligned() {
        let aligned = file(&GOOD());
        let header = u64::from_le_bytes(aligned[..8].try_into().unwrap());
        for spaces in 0..4 {
            let longer = (header + spaces).to_le_bytes();
            let (text, numbers) = aligned[8..].split_at(header as usize);
            let bytes = [&longer[..], text, &b"    "[..spaces as usize], numbers].concat();
            let two = filled(&bytes).unwrap();
            assert_eq!(two.a.val().into_data().try_to_vec::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0], "{spaces}");
            assert_eq!(two.b.val().into_data().try_to_vec::<f32>().unwrap(), [1.0], "{spaces}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let [a, b] = GOOD();
        let whole = file(&[a.clone(), b.clone()]);
        let wrong = |bytes: &[u8], part: &str| {
            let told = filled(bytes).unwrap_err();
            assert!(told.contains(part), "{told}");
        };
        wrong(&file(std::slice::from_ref(&a)), "b is missing");
        wrong(&file(&[a.clone(), b.clone(), ("c", Dtype::F32, vec![1])]), "c has no place in the model");
        wrong(&file(&[a.clone(), ("b", Dtype::F32, vec![2])]), "b is F32 [2], not F32 [1]");
        wrong(&file(&[a, ("b", Dtype::BF16, vec![1])]), "b is BF16 [1], not F32 [1]");
        for bytes in [&b""[..], b"nothing", &whole[..whole.len() - 1], &whole[..20]] {
            wrong(bytes, "not a safetensors file");
        }
    }

    /// Runs of `scaled-dot` that were trained before it shared its projections with heads.
    #[test]
    fn names_of_before_are_still_known() {
        #[derive(Module, Debug)]
        struct Decoder {
            attention: Attention,
        }
        #[derive(Module, Debug)]
        struct Attention {
            projections: Two,
        }
        #[derive(Module, Debug)]
        struct Model {
            decoder: Decoder,
        }
        let model = Model { decoder: Decoder { attention: Attention { projections: two() } } };
        let bytes = file(&[
            ("decoder.attention.score.a", Dtype::F32, vec![2, 2]),
            ("decoder.attention.projections.b", Dtype::F32, vec![1]),
        ]);
        let weights = Weights::of(bytes.into(), "model.safetensors".as_ref()).unwrap();
        let filled = weights.fill(model).unwrap();
        assert_eq!(filled.decoder.attention.projections.a.val().into_data().try_to_vec::<f32>().unwrap()[3], 4.0);
    }
}
