//! Numbers that begin at a cache line.

/// Bytes of a cache line, and of the widest register.
pub(super) const LINE: usize = 64;

/// A list whose first number stands at the beginning of a cache line, so that no load of a whole
/// register touches two.
#[derive(Debug)]
pub(super) struct Aligned<T> {
    data: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// All 0.
    pub(super) fn new(len: usize) -> Self {
        let mut list = Self { data: Vec::new(), start: 0, len: 0 };
        list.reset(len);
        list
    }

    /// All 0 again, of another length; allocates only if there is no room.
    pub(super) fn reset(&mut self, len: usize) {
        let slack = LINE / size_of::<T>();
        self.data.clear();
        self.data.resize(len + slack, T::default());
        // An offset that cannot be computed is only slower.
        self.start = self.data.as_ptr().align_offset(LINE).min(slack);
        self.len = len;
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        self.data.capacity() * size_of::<T>()
    }
}

impl<T> std::ops::Deref for Aligned<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.data[self.start..self.start + self.len]
    }
}

impl<T> std::ops::DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data[self.start..self.start + self.len]
    }
}
