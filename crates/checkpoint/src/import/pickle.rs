//! A pickle machine that can build nothing but dictionaries of tensors.
//!
//! A pickle is a program for a stack machine, and Python's runs whatever it names. This one knows the five things that a dictionary of tensors is
//! made of; anything else that a program names is refused, and nothing is ever called:
//!
//! | name | what becomes of it |
//! |---|---|
//! | `collections.OrderedDict` | a dictionary |
//! | `torch._utils._rebuild_tensor_v2` | a view of a storage |
//! | `torch._utils._rebuild_parameter` | the tensor it is given |
//! | `torch.FloatStorage`, `HalfStorage`, … | the type of a storage |
//! | a persistent id `('storage', type, key, …)` | a storage |
//!
//! Objects live in one list and refer to each other by number, so neither copies nor nesting cost anything: time and memory are linear in the
//! bytes of the program.

use std::collections::HashMap;

use super::bytes::Bytes;
use super::error::ImportFault;

/// Most dimensions of a tensor.
const MAX_RANK: usize = 8;
/// Most arguments of a function.
const MAX_ARGUMENTS: usize = 16;
/// The longest key of a storage.
const LONGEST_KEY: usize = 80;

/// What a program leaves behind.
#[derive(Debug)]
pub struct Pickled {
    objects: Vec<Object>,
    root: usize,
    /// Bytes of the program.
    pub(super) length: usize,
}

/// A tensor: part of a storage, seen in a shape.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorView {
    /// The key of the storage.
    pub storage: String,
    /// The type of its numbers, such as `FloatStorage`.
    pub kind: StorageType,
    /// How many numbers the storage holds.
    pub storage_len: usize,
    /// The first number.
    pub offset: usize,
    /// Its dimensions.
    pub shape: Vec<usize>,
    /// Numbers from one index to the next, for each dimension.
    pub strides: Vec<usize>,
}

/// The type of the numbers of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageType {
    /// IEEE 754 binary32.
    Float,
    /// IEEE 754 binary16.
    Half,
    /// The upper half of a binary32.
    BFloat16,
    /// A type that weights do not have.
    Other(&'static str, usize),
}

impl StorageType {
    fn of_name(name: &str) -> Option<Self> {
        Some(match name {
            "FloatStorage" => Self::Float,
            "HalfStorage" => Self::Half,
            "BFloat16Storage" => Self::BFloat16,
            "DoubleStorage" => Self::Other("float64", 8),
            "LongStorage" => Self::Other("int64", 8),
            "IntStorage" => Self::Other("int32", 4),
            "ShortStorage" => Self::Other("int16", 2),
            "CharStorage" => Self::Other("int8", 1),
            "ByteStorage" => Self::Other("uint8", 1),
            "BoolStorage" => Self::Other("bool", 1),
            _ => return None,
        })
    }

    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            Self::Float => 4,
            Self::Half | Self::BFloat16 => 2,
            Self::Other(_, bytes) => bytes,
        }
    }
}

#[derive(Clone, Debug)]
enum Object {
    Nothing,
    Boolean,
    Integer(i64),
    /// An integer too long to be a size or an offset.
    Long,
    Text(String),
    Tuple(Vec<usize>),
    List(Vec<usize>),
    Dictionary(Vec<(usize, usize)>),
    Name(Known),
    Storage {
        key: String,
        kind: StorageType,
        len: usize,
    },
    Tensor(TensorView),
}

/// What a program may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    Storage(StorageType),
}

impl Known {
    fn of(module: &str, name: &str) -> Option<Self> {
        match (module, name) {
            ("collections", "OrderedDict") => Some(Self::OrderedDict),
            ("torch._utils", "_rebuild_tensor_v2") => Some(Self::RebuildTensor),
            ("torch._utils", "_rebuild_parameter") => Some(Self::RebuildParameter),
            ("torch" | "torch.storage", name) => StorageType::of_name(name).map(Self::Storage),
            _ => None,
        }
    }
}

impl Pickled {
    /// Runs a program.
    ///
    /// # Errors
    /// If it is damaged, or names anything but what tensors are made of.
    pub fn parse(program: &[u8]) -> Result<Self, ImportFault> {
        let mut machine = Machine::new(program);
        let root = machine.run()?;
        Ok(Self { length: machine.rest.at(), objects: machine.objects, root })
    }

    /// The tensors of a dictionary, by name.
    ///
    /// # Errors
    /// If it is something else, or a tensor occurs twice.
    pub fn tensors(&self) -> Result<HashMap<String, TensorView>, ImportFault> {
        let wrong =
            |what: &str| ImportFault::Damaged(format!("it is {what}, not a dictionary of tensors"));
        let Object::Dictionary(items) = &self.objects[self.root] else {
            return Err(wrong("something else"));
        };
        let mut tensors = HashMap::new();
        for &(key, value) in items {
            let Object::Text(name) = &self.objects[key] else {
                return Err(wrong("a dictionary with keys that are not text"));
            };
            let Object::Tensor(view) = &self.objects[value] else {
                let name: String = name.chars().take(80).collect();
                return Err(ImportFault::Damaged(format!("{name:?} is not a tensor")));
            };
            if tensors.insert(name.clone(), view.clone()).is_some() {
                return Err(ImportFault::Damaged(format!("{name:?} occurs twice")));
            }
        }
        Ok(tensors)
    }

    /// The texts of a list.
    pub(super) fn texts(&self) -> Option<Vec<&str>> {
        let Object::List(items) = &self.objects[self.root] else { return None };
        let text = |&item: &usize| match &self.objects[item] {
            Object::Text(text) => Some(text.as_str()),
            _ => None,
        };
        items.iter().map(text).collect()
    }

    /// The whole number it is.
    pub(super) fn integer(&self) -> Option<i64> {
        match self.objects[self.root] {
            Object::Integer(number) => Some(number),
            _ => None,
        }
    }
}

struct Machine<'a> {
    rest: Bytes<'a>,
    objects: Vec<Object>,
    stack: Vec<usize>,
    /// Heights of the stack at which tuples and items begin.
    marks: Vec<usize>,
    memo: HashMap<u32, usize>,
}

impl<'a> Machine<'a> {
    fn new(program: &'a [u8]) -> Self {
        Self {
            rest: Bytes::new(program),
            objects: Vec::new(),
            stack: Vec::new(),
            marks: Vec::new(),
            memo: HashMap::new(),
        }
    }

    fn run(&mut self) -> Result<usize, ImportFault> {
        loop {
            match self.rest.u8("an instruction")? {
                // STOP
                b'.' => return self.pop(),
                code => self.step(code)?,
            }
        }
    }

    fn step(&mut self, code: u8) -> Result<(), ImportFault> {
        match code {
            // PROTO, FRAME
            0x80 => {
                let version = self.rest.u8("the protocol")?;
                if version > 5 {
                    return Err(ImportFault::Damaged(format!("pickle protocol {version}")));
                }
            }
            0x95 => drop(self.rest.u64("a frame")?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            // Constants
            b'N' => self.push(Object::Nothing),
            0x88 | 0x89 => self.push(Object::Boolean),
            // Containers
            b')' => self.push(Object::Tuple(Vec::new())),
            b']' => self.push(Object::List(Vec::new())),
            b'}' => self.push(Object::Dictionary(Vec::new())),
            b't' => {
                let items = self.since_mark()?;
                self.push(Object::Tuple(items));
            }
            0x85..=0x87 => {
                let count = usize::from(code - 0x84);
                let from = self.stack.len().checked_sub(count).ok_or_else(short)?;
                self.above_mark(from)?;
                let items = self.stack.split_off(from);
                self.push(Object::Tuple(items));
            }
            b'a' => {
                let item = self.pop()?;
                self.append(&[item])?;
            }
            b'e' => {
                let items = self.since_mark()?;
                self.append(&items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(&[key, value])?;
            }
            b'u' => {
                let items = self.since_mark()?;
                self.set(&items)?;
            }
            // Memory
            b'q' => {
                let place = self.rest.u8("a place")?;
                self.remember(u32::from(place))?;
            }
            b'r' => {
                let place = self.rest.u32("a place")?;
                self.remember(place)?;
            }
            0x94 => {
                let place = u32::try_from(self.memo.len()).unwrap_or(u32::MAX);
                self.remember(place)?;
            }
            b'h' => {
                let place = self.rest.u8("a place")?;
                self.recall(u32::from(place))?;
            }
            b'j' => {
                let place = self.rest.u32("a place")?;
                self.recall(place)?;
            }
            // Names and what is made with them
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.name(&module, &name)?;
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                match (&self.objects[module], &self.objects[name]) {
                    (Object::Text(module), Object::Text(name)) => {
                        let (module, name) = (module.clone(), name.clone());
                        self.name(&module, &name)?;
                    }
                    _ => return Err(ImportFault::damaged("a name is not text")),
                }
            }
            b'R' => self.reduce()?,
            b'b' => self.build()?,
            b'Q' => self.persistent()?,
            other => self.constant(other)?,
        }
        Ok(())
    }

    /// Numbers and texts.
    fn constant(&mut self, code: u8) -> Result<(), ImportFault> {
        match code {
            b'K' => {
                let number = self.rest.u8("a number")?;
                self.push(Object::Integer(i64::from(number)));
            }
            b'M' => {
                let number = self.rest.u16("a number")?;
                self.push(Object::Integer(i64::from(number)));
            }
            b'J' => {
                let number = self.rest.u32("a number")?;
                self.push(Object::Integer(i64::from(number as i32)));
            }
            0x8a => self.long()?,
            b'X' => {
                let length = self.rest.u32("a text")?;
                self.text(u64::from(length))?;
            }
            0x8c => {
                let length = self.rest.u8("a text")?;
                self.text(u64::from(length))?;
            }
            0x8d => {
                let length = self.rest.u64("a text")?;
                self.text(length)?;
            }
            other => {
                return Err(ImportFault::Code(format!("pickle instruction {other:#04x}")));
            }
        }
        Ok(())
    }

    fn push(&mut self, object: Object) {
        self.objects.push(object);
        self.stack.push(self.objects.len() - 1);
    }

    fn pop(&mut self) -> Result<usize, ImportFault> {
        let from = self.stack.len().checked_sub(1).ok_or_else(short)?;
        self.above_mark(from)?;
        self.stack.pop().ok_or_else(short)
    }

    fn top(&self) -> Result<usize, ImportFault> {
        self.stack.last().copied().ok_or_else(short)
    }

    /// Objects below a mark are not taken before it is.
    fn above_mark(&self, from: usize) -> Result<(), ImportFault> {
        if self.marks.last().is_some_and(|&mark| from < mark) { Err(short()) } else { Ok(()) }
    }

    fn since_mark(&mut self) -> Result<Vec<usize>, ImportFault> {
        let mark = self.marks.pop().filter(|&mark| mark <= self.stack.len()).ok_or_else(short)?;
        Ok(self.stack.split_off(mark))
    }

    /// LONG1: two's complement of any length.
    fn long(&mut self) -> Result<(), ImportFault> {
        let length = usize::from(self.rest.u8("a number")?);
        let bytes = self.rest.take(length, "a number")?;
        let number = match bytes.last() {
            None => Object::Integer(0),
            Some(&last) if length <= 8 => {
                let fill = if last & 0x80 == 0 { 0 } else { 0xff };
                let mut whole = [fill; 8];
                whole[..length].copy_from_slice(bytes);
                Object::Integer(i64::from_le_bytes(whole))
            }
            Some(_) => Object::Long,
        };
        self.push(number);
        Ok(())
    }

    fn text(&mut self, length: u64) -> Result<(), ImportFault> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = self.rest.take(length, "a text")?;
        let text =
            str::from_utf8(bytes).map_err(|_| ImportFault::damaged("a text is not UTF-8"))?;
        self.push(Object::Text(text.to_owned()));
        Ok(())
    }

    fn line(&mut self) -> Result<String, ImportFault> {
        let mut line = Vec::new();
        loop {
            match self.rest.u8("a name")? {
                b'\n' => break,
                byte => line.push(byte),
            }
        }
        String::from_utf8(line).map_err(|_| ImportFault::damaged("a name is not UTF-8"))
    }

    fn name(&mut self, module: &str, name: &str) -> Result<(), ImportFault> {
        let Some(known) = Known::of(module, name) else {
            let whole: String = format!("{module}.{name}").chars().take(120).collect();
            return Err(ImportFault::Code(whole));
        };
        self.push(Object::Name(known));
        Ok(())
    }

    fn append(&mut self, items: &[usize]) -> Result<(), ImportFault> {
        let list = self.top()?;
        match &mut self.objects[list] {
            Object::List(list) => list.extend_from_slice(items),
            _ => return Err(ImportFault::damaged("items are put into what is no list")),
        }
        Ok(())
    }

    fn set(&mut self, items: &[usize]) -> Result<(), ImportFault> {
        let dictionary = self.top()?;
        match (&mut self.objects[dictionary], items.as_chunks::<2>()) {
            (Object::Dictionary(dictionary), (pairs, [])) => {
                dictionary.extend(pairs.iter().map(|&[key, value]| (key, value)));
                Ok(())
            }
            _ => Err(ImportFault::damaged("items are put into what is no dictionary")),
        }
    }

    fn remember(&mut self, place: u32) -> Result<(), ImportFault> {
        let top = self.top()?;
        self.memo.insert(place, top);
        Ok(())
    }

    fn recall(&mut self, place: u32) -> Result<(), ImportFault> {
        let object = self.memo.get(&place).copied();
        let object = object.ok_or_else(|| ImportFault::damaged("it recalls what it never made"))?;
        self.stack.push(object);
        Ok(())
    }

    /// A tuple's objects.
    fn items(&self, tuple: usize) -> Result<Vec<&Object>, ImportFault> {
        match &self.objects[tuple] {
            // Whoever recalls a long tuple again and again would make this quadratic.
            Object::Tuple(items) if items.len() > MAX_ARGUMENTS => {
                Err(ImportFault::damaged("there are too many arguments"))
            }
            Object::Tuple(items) => Ok(items.iter().map(|&item| &self.objects[item]).collect()),
            _ => Err(ImportFault::damaged("arguments are not a tuple")),
        }
    }

    fn reduce(&mut self) -> Result<(), ImportFault> {
        let (arguments, function) = (self.pop()?, self.pop()?);
        let Object::Name(known) = self.objects[function] else {
            return Err(ImportFault::damaged("what is called is no name"));
        };
        let items = self.items(arguments)?;
        let made = match (known, &items[..]) {
            (Known::OrderedDict, []) => Object::Dictionary(Vec::new()),
            (Known::RebuildTensor, [storage, offset, shape, strides, ..]) => {
                Object::Tensor(self.view([storage, offset, shape, strides])?)
            }
            (Known::RebuildParameter, [Object::Tensor(view), ..]) => Object::Tensor(view.clone()),
            _ => return Err(ImportFault::Code(format!("{known:?} with other arguments"))),
        };
        self.push(made);
        Ok(())
    }

    fn view(&self, arguments: [&Object; 4]) -> Result<TensorView, ImportFault> {
        let damaged = || ImportFault::damaged("a tensor is not described as tensors are");
        let [Object::Storage { key, kind, len }, Object::Integer(offset), shape, strides] =
            arguments
        else {
            return Err(damaged());
        };
        let sizes = |tuple: &Object| -> Option<Vec<usize>> {
            let Object::Tuple(items) = tuple else { return None };
            let size = |&item: &usize| match self.objects[item] {
                Object::Integer(size) => usize::try_from(size).ok(),
                _ => None,
            };
            (items.len() <= MAX_RANK).then(|| items.iter().map(size).collect())?
        };
        let (shape, strides) = sizes(shape).zip(sizes(strides)).ok_or_else(damaged)?;
        if shape.len() != strides.len() {
            return Err(damaged());
        }
        let offset = usize::try_from(*offset).map_err(|_| damaged())?;
        Ok(TensorView {
            storage: key.clone(),
            kind: *kind,
            storage_len: *len,
            offset,
            shape,
            strides,
        })
    }

    /// BUILD sets attributes: those of dictionaries say which versions of modules wrote them, and mean nothing here.
    fn build(&mut self) -> Result<(), ImportFault> {
        let state = self.pop()?;
        let target = self.top()?;
        match (&self.objects[target], &self.objects[state]) {
            (Object::Dictionary(_), Object::Dictionary(_)) => Ok(()),
            _ => Err(ImportFault::Code("attributes of what is no dictionary".to_owned())),
        }
    }

    /// BINPERSID: a storage.
    fn persistent(&mut self) -> Result<(), ImportFault> {
        let id = self.pop()?;
        let items = self.items(id)?;
        let [
            Object::Text(what),
            Object::Name(Known::Storage(kind)),
            Object::Text(key),
            Object::Text(_),
            Object::Integer(len),
            ..,
        ] = items[..]
        else {
            return Err(ImportFault::damaged("a storage is not described as storages are"));
        };
        // The legacy form has a sixth item for views of storages, which nobody writes any more.
        if what != "storage"
            || key.len() > LONGEST_KEY
            || items.get(5).is_some_and(|view| !matches!(view, Object::Nothing))
        {
            return Err(ImportFault::damaged("a storage is not described as storages are"));
        }
        let len = usize::try_from(*len);
        let len = len.map_err(|_| ImportFault::damaged("a storage has a negative length"))?;
        let storage = Object::Storage { key: key.clone(), kind: *kind, len };
        self.push(storage);
        Ok(())
    }
}

fn short() -> ImportFault {
    ImportFault::damaged("its stack is too short")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// {"w": a tensor of shape (2, 3)}, as torch.save writes it.
    fn program() -> Vec<u8> {
        let mut code = b"\x80\x02}q\x00X\x01\x00\x00\x00wq\x01ctorch._utils\n_rebuild_tensor_v2\nq\x02((X\x07\x00\x00\x00storageq\x03ctorch\nFloatStorage\nq\x04".to_vec();
        code.extend(b"X\x01\x00\x00\x000q\x05X\x03\x00\x00\x00cpuq\x06K\x06tq\x07QK\x00K\x02K\x03\x86q\x08K\x03K\x01\x86q\x09\x89ccollections\nOrderedDict\nq\x0a)Rq\x0btq\x0cRq\x0ds.");
        code
    }

    #[test]
    fn a_dictionary_of_tensors_is_read() {
        let pickled = Pickled::parse(&program()).unwrap();
        let tensors = pickled.tensors().unwrap();
        let view = TensorView {
            storage: "0".to_owned(),
            kind: StorageType::Float,
            storage_len: 6,
            offset: 0,
            shape: vec![2, 3],
            strides: vec![3, 1],
        };
        assert_eq!(tensors, HashMap::from([("w".to_owned(), view)]));
        assert_eq!(pickled.length, program().len());
    }

    #[test]
    fn anything_else_is_refused_by_its_name() {
        let cases: [(&str, &[u8], &str); 14] = [
            ("os.system", b"cos\nsystem\n(X\x02\x00\x00\x00lstR.", "asks for \"os.system\""),
            ("eval", b"cbuiltins\neval\n(X\x01\x00\x00\x001tR.", "asks for \"builtins.eval\""),
            ("by stack", b"\x8c\x02os\x8c\x06system\x93)R.", "asks for \"os.system\""),
            ("torch.load", b"ctorch\nload\n)R.", "asks for \"torch.load\""),
            ("instance", b"(ios\nsystem\n.", "pickle instruction 0x69"),
            ("object", b"(cos\nsystem\no.", "asks for \"os.system\""),
            ("new object", b"ccollections\nOrderedDict\n)\x81.", "pickle instruction 0x81"),
            ("extension", b"\x82\x01.", "pickle instruction 0x82"),
            ("dict of pairs", b"ccollections\nOrderedDict\n(]tR.", "with other arguments"),
            (
                "attributes",
                b"ccollections\nOrderedDict\n}b.",
                "attributes of what is no dictionary",
            ),
            ("empty stack", b".", "stack is too short"),
            ("below a mark", b"}(s.", "stack is too short"),
            ("endless text", b"X\xff\xff\xff\xff", "only 0 bytes follow"),
            ("no memory", b"h\x07.", "recalls what it never made"),
        ];
        for (name, program, expected) in cases {
            let error = Pickled::parse(program).expect_err(name).to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
        for program in [&b"N."[..], b"}K\x01K\x02s.", b"}X\x01\x00\x00\x00aK\x02s."] {
            assert!(Pickled::parse(program).unwrap().tensors().is_err(), "{program:?}");
        }
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let program = program();
        for end in 0..program.len() {
            assert!(Pickled::parse(&program[..end]).is_err());
        }
        for place in 0..program.len() {
            for value in 0..=255 {
                let mut bytes = program.clone();
                bytes[place] = value;
                let _ = Pickled::parse(&bytes).map(|pickled| pickled.tensors().is_ok());
            }
        }
        // Nesting and doubling, as deep as the program is long.
        let mut deep = vec![b')'; 1];
        deep.extend(vec![0x85; 100_000]);
        deep.extend(b"q\x00");
        for _ in 0..10_000 {
            deep.extend(b"h\x00\x86q\x00");
        }
        deep.push(b'.');
        assert!(Pickled::parse(&deep).unwrap().tensors().is_err());
    }
}
