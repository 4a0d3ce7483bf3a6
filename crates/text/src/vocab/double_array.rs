//! A trie of byte strings in one array of 32-bit units.
//!
//! The layout is that of the Darts-clone library, which SentencePiece stores inside its model
//! files: the child of node `n` under byte `c` stands at `n ^ offset(n) ^ c` and carries `c` as
//! its label; a node that ends a key has a child under label 0 that holds the value. Looking up
//! costs one unit per byte. Building keeps a window of open blocks, so it is linear in the keys.
//!
//! Nodes below which the same follows, labels and values, share their children: a rule of normalisation
//! is mostly that, since many spellings of a character become the same.

use std::collections::HashMap;

/// Where a walk through the trie stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    node: u32,
    unit: u32,
}

/// A trie from byte strings (without NUL) to numbers below 2³¹.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DoubleArray {
    units: Vec<u32>,
}

impl DoubleArray {
    /// Takes units as they are. Walks check every index, so foreign units cannot do harm.
    pub(crate) fn from_units(units: Vec<u32>) -> Self {
        Self { units }
    }

    pub(crate) fn units(&self) -> &[u32] {
        &self.units
    }

    /// The root.
    #[inline]
    pub(crate) fn root(&self) -> Cursor {
        Cursor { node: 0, unit: self.units.first().copied().unwrap_or(0) }
    }

    /// Follows a byte.
    #[inline]
    pub(crate) fn step(&self, cursor: Cursor, byte: u8) -> Option<Cursor> {
        let node = cursor.node ^ offset(cursor.unit) ^ u32::from(byte);
        let unit = *self.units.get(node as usize)?;
        (label(unit) == u32::from(byte)).then_some(Cursor { node, unit })
    }

    /// The value of the key that ends here, if one does.
    #[inline]
    pub(crate) fn value(&self, cursor: Cursor) -> Option<u32> {
        if !has_leaf(cursor.unit) {
            return None;
        }
        let leaf = self.units.get((cursor.node ^ offset(cursor.unit)) as usize)?;
        Some(leaf & VALUE)
    }

    /// The longest key that the text starts with: its length and value.
    #[inline]
    pub(crate) fn longest_prefix(&self, text: &[u8]) -> Option<(usize, u32)> {
        let mut cursor = self.root();
        let mut longest = None;
        for (index, &byte) in text.iter().enumerate() {
            match self.step(cursor, byte) {
                Some(next) => cursor = next,
                None => break,
            }
            if let Some(value) = self.value(cursor) {
                longest = Some((index + 1, value));
            }
        }
        longest
    }

    /// Builds the trie of strictly increasing, non-empty keys without NUL.
    pub(crate) fn build<K: AsRef<[u8]>>(keys: &[(K, u32)]) -> Self {
        debug_assert!(keys.is_sorted_by(|a, b| a.0.as_ref() < b.0.as_ref()));
        let mut builder = Builder::default();
        builder.reserve(0);
        builder.extras[0].is_base = true;
        builder.units[0] = 1 << 10;
        if !keys.is_empty() {
            let mut forms = Forms::default();
            let root = forms.of(keys, 0);
            builder.bases = vec![None; forms.list.len()];
            builder.place(&forms, root, 0);
        }
        builder.close_all();
        Self { units: builder.units }
    }
}

const VALUE: u32 = (1 << 31) - 1;
const LEAF: u32 = 1 << 8;
const BLOCK: usize = 256;
/// Blocks that are still searched for free places.
const OPEN_BLOCKS: usize = 16;
const UPPER: u32 = 0xFF << 21;

#[inline]
fn has_leaf(unit: u32) -> bool {
    unit & LEAF != 0
}

/// The label, with bit 31 set on value units so that they match no byte.
#[inline]
fn label(unit: u32) -> u32 {
    unit & (1 << 31 | 0xFF)
}

#[inline]
fn offset(unit: u32) -> u32 {
    (unit >> 10) << ((unit & (1 << 9)) >> 6)
}

/// A place of the array under construction.
#[derive(Clone, Copy, Default)]
struct Extra {
    /// Neighbours in the circular list of free places.
    previous: u32,
    next: u32,
    /// The unit is taken.
    is_taken: bool,
    /// Some node's children are placed relative to this index.
    is_base: bool,
}

#[derive(Default)]
struct Builder {
    units: Vec<u32>,
    extras: Vec<Extra>,
    /// A free place, if there is any.
    head: Option<u32>,
    /// Blocks before this one are closed.
    closed: usize,
    /// Where the children of each form were last placed.
    bases: Vec<Option<u32>>,
}

/// What follows nodes, each form once: labels with the form below them or, under label 0, the value.
#[derive(Default)]
struct Forms {
    list: Vec<Vec<(u8, usize)>>,
    known: HashMap<Vec<(u8, usize)>, usize>,
}

impl Forms {
    /// The form of the node that stands for the common prefix of length `depth`.
    fn of<K: AsRef<[u8]>>(&mut self, keys: &[(K, u32)], depth: usize) -> usize {
        let label_of = |key: &(K, u32)| key.0.as_ref().get(depth).copied().unwrap_or(0);
        let groups = keys.chunk_by(|a, b| label_of(a) == label_of(b));
        let children: Vec<(u8, usize)> = groups
            .map(|group| match label_of(&group[0]) {
                0 => (0, group[0].1 as usize),
                label => (label, self.of(group, depth + 1)),
            })
            .collect();
        let next = self.list.len();
        *self.known.entry(children).or_insert_with_key(|children| {
            self.list.push(children.clone());
            next
        })
    }
}

/// Whether a unit can say that its children are so far away.
fn is_expressible(relative: u32) -> bool {
    relative.trailing_zeros() >= 8 || relative & UPPER == 0
}

impl Builder {
    /// Places the children of `node`, or finds them where the same were placed before.
    fn place(&mut self, forms: &Forms, form: usize, node: u32) {
        let children = &forms.list[form];
        if children[0].0 == 0 {
            self.units[node as usize] |= LEAF;
        }
        if let Some(base) = self.bases[form].filter(|&base| is_expressible(node ^ base)) {
            self.set_offset(node, node ^ base);
            return;
        }
        let labels: Vec<u8> = children.iter().map(|&(label, _)| label).collect();
        let base = self.find_base(node, &labels);
        self.bases[form] = Some(base);
        self.set_offset(node, node ^ base);
        for &(label, below) in children {
            let child = base ^ u32::from(label);
            self.reserve(child);
            self.units[child as usize] |=
                if label == 0 { below as u32 & VALUE | 1 << 31 } else { u32::from(label) };
        }
        self.extras[base as usize].is_base = true;
        for &(label, below) in children.iter().filter(|&&(label, _)| label != 0) {
            self.place(forms, below, base ^ u32::from(label));
        }
    }

    fn set_offset(&mut self, node: u32, offset: u32) {
        let unit = &mut self.units[node as usize];
        *unit &= 1 << 31 | LEAF | 0xFF;
        *unit |= if offset < 1 << 21 { offset << 10 } else { offset << 2 | 1 << 9 };
    }

    /// An index under which all labels find free places.
    fn find_base(&self, node: u32, labels: &[u8]) -> u32 {
        if let Some(head) = self.head {
            let mut free = head;
            loop {
                let base = free ^ u32::from(labels[0]);
                if self.fits(node, base, labels) {
                    return base;
                }
                free = self.extras[free as usize].next;
                if free == head {
                    break;
                }
            }
        }
        self.units.len() as u32 | (node & 0xFF)
    }

    fn fits(&self, node: u32, base: u32, labels: &[u8]) -> bool {
        let relative = node ^ base;
        if self.extras[base as usize].is_base || !is_expressible(relative) {
            return false;
        }
        labels[1..].iter().all(|&l| !self.extras[(base ^ u32::from(l)) as usize].is_taken)
    }

    /// Takes a place, opening a new block where needed.
    fn reserve(&mut self, index: u32) {
        while index as usize >= self.units.len() {
            self.open_block();
        }
        let Extra { previous, next, .. } = self.extras[index as usize];
        if self.head == Some(index) {
            self.head = (next != index).then_some(next);
        }
        self.extras[previous as usize].next = next;
        self.extras[next as usize].previous = previous;
        self.extras[index as usize].is_taken = true;
    }

    fn open_block(&mut self) {
        let start = self.units.len() as u32;
        let end = start + BLOCK as u32;
        self.units.resize(end as usize, 0);
        self.extras.extend((start..end).map(|index| Extra {
            previous: index.wrapping_sub(1),
            next: index + 1,
            is_taken: false,
            is_base: false,
        }));
        match self.head {
            None => {
                self.extras[start as usize].previous = end - 1;
                self.extras[end as usize - 1].next = start;
                self.head = Some(start);
            }
            Some(head) => {
                let tail = self.extras[head as usize].previous;
                self.extras[tail as usize].next = start;
                self.extras[start as usize].previous = tail;
                self.extras[end as usize - 1].next = head;
                self.extras[head as usize].previous = end - 1;
            }
        }
        if self.units.len() / BLOCK > self.closed + OPEN_BLOCKS {
            self.close_block();
        }
    }

    /// Gives every free place of the oldest open block a label that no walk can match, and
    /// takes them off the list.
    fn close_block(&mut self) {
        let start = (self.closed * BLOCK) as u32;
        let places = start..start + BLOCK as u32;
        let unused = places.clone().find(|&i| !self.extras[i as usize].is_base);
        for index in places {
            if !self.extras[index as usize].is_taken {
                self.reserve(index);
                self.units[index as usize] |= (index ^ unused.unwrap_or(index)) & 0xFF;
            }
        }
        self.closed += 1;
    }

    fn close_all(&mut self) {
        while self.closed * BLOCK < self.units.len() {
            self.close_block();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn build(map: &BTreeMap<Vec<u8>, u32>) -> DoubleArray {
        let keys: Vec<(&[u8], u32)> = map.iter().map(|(k, &v)| (k.as_slice(), v)).collect();
        DoubleArray::build(&keys)
    }

    fn slow_longest(map: &BTreeMap<Vec<u8>, u32>, text: &[u8]) -> Option<(usize, u32)> {
        (1..=text.len()).rev().find_map(|len| map.get(&text[..len]).map(|&value| (len, value)))
    }

    proptest! {
        #[test]
        fn finds_what_a_map_finds(
            map in prop::collection::btree_map(
                prop::collection::vec(1_u8..=255, 1..6), 0_u32..1 << 31, 0..300),
            texts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..8), 0..50),
        ) {
            let trie = build(&map);
            for text in texts.iter().chain(map.keys()) {
                prop_assert_eq!(trie.longest_prefix(text), slow_longest(&map, text));
            }
        }

        #[test]
        fn foreign_units_do_no_harm(
            units in prop::collection::vec(any::<u32>(), 0..600),
            text in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            DoubleArray::from_units(units).longest_prefix(&text);
        }
    }

    /// More keys than fit into the open window.
    #[test]
    fn many_keys() {
        let map: BTreeMap<Vec<u8>, u32> = (0..60_000_u32)
            .map(|i| (format!("{:x}-{i}", i.wrapping_mul(2_654_435_761)).into_bytes(), i))
            .collect();
        let trie = build(&map);
        for (key, &value) in &map {
            assert_eq!(trie.longest_prefix(key), Some((key.len(), value)));
        }
        assert_eq!(trie.longest_prefix(b"zzz"), None);
    }

    /// A thousand beginnings with the same ends: no more places than one of them and the beginnings need.
    #[test]
    fn what_is_the_same_is_kept_once() {
        let ends: Vec<String> = (0..500).map(|i| format!("{:x}", i * 7919)).collect();
        let map: BTreeMap<Vec<u8>, u32> = (0..1000)
            .flat_map(|i| {
                ends.iter().zip(0..).map(move |(end, v)| (format!("{i:03}{end}").into_bytes(), v))
            })
            .collect();
        let trie = build(&map);
        assert!(trie.units().len() < 8192, "{} units for {} keys", trie.units().len(), map.len());
        for (key, &value) in &map {
            assert_eq!(trie.longest_prefix(key), Some((key.len(), value)));
        }
    }
}
