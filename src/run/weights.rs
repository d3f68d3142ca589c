//! A model's weights read where they lie: the safetensors file is mapped into memory, on flex every tensor is a
//! view of the mapping, and pages that nothing asks for are never read. Copying 45 MB takes longer than
//! translating a sentence.
//!
//! A mapped file must not be shortened while it is used. Ours are replaced by renaming, which leaves the old one
//! whole for who has it open.

use std::fs::File;
use std::path::Path;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{AllocationProperty, Bytes, DType, Tensor, TensorData};
use memmap2::MmapOptions;
use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, Metadata};

use crate::error::{Error, Result};

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
    pub fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path))?;
        // SAFETY: nobody shortens the file, see above.
        let map = unsafe { MmapOptions::new().populate().map(&file) }.map_err(Error::io(path))?;
        let map = bytes::Bytes::from_owner(map);
        let (header, metadata) = SafeTensors::read_metadata(&map)
            .map_err(|why| Error::data(path, format!("not a safetensors file: {why}")))?;
        Ok(Self { first: size_of::<u64>() + header, map, metadata })
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
        let mut fill = Fill { weights: self, path: Vec::new(), taken: Vec::new(), wrong: None };
        let model = model.map(&mut fill);
        if let Some(wrong) = fill.wrong {
            return Err(wrong);
        }
        match self.metadata.offset_keys().into_iter().find(|name| !fill.taken.contains(name)) {
            Some(name) => Err(format!("{name} has no place in the model")),
            None => Ok(model),
        }
    }

    /// A tensor of this shape.
    fn tensor(&self, name: &str, shape: &[usize]) -> std::result::Result<TensorData, String> {
        let info = self.metadata.info(name).ok_or_else(|| format!("{name} is missing"))?;
        if info.dtype != Dtype::F32 || info.shape != shape {
            return Err(format!("{name} is {:?} {:?}, not F32 {shape:?}", info.dtype, info.shape));
        }
        let (from, to) = info.data_offsets;
        let bytes =
            Bytes::from_shared(self.map.slice(self.first + from..self.first + to), AllocationProperty::File);
        Ok(TensorData::from_bytes(bytes, shape.to_vec(), DType::F32))
    }
}

struct Fill<'a> {
    weights: &'a Weights,
    path: Vec<String>,
    taken: Vec<String>,
    wrong: Option<String>,
}

impl ModuleMapper for Fill<'_> {
    fn enter_module(&mut self, name: &str, kind: &str) {
        if !is_variant(kind) {
            self.path.push(name.to_owned());
        }
    }

    fn exit_module(&mut self, _: &str, kind: &str) {
        if !is_variant(kind) {
            self.path.pop();
        }
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.path.join(".");
        match self.weights.tensor(&name, &param.dims()) {
            Ok(data) => {
                self.taken.push(name);
                let (id, old, mapper) = param.consume();
                Param::from_mapped_value(id, Tensor::from_data(data, &old.device()), mapper)
            }
            Err(why) => {
                self.wrong.get_or_insert(why);
                param
            }
        }
    }
}

/// Names of enum variants (which score it is) are not part of a tensor's name.
fn is_variant(kind: &str) -> bool {
    kind.starts_with("Enum:")
}
