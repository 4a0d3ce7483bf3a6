//! Which instructions the processor has: asked once, when weights are packed.

use std::fmt;

/// A set of instructions the kernels are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// What every processor has. Equal to the others to the bit, but fused multiply-adds may be
    /// computed in software.
    Portable,
    /// x86-64 with AVX2 and FMA.
    Avx2,
    /// x86-64 with AVX-512 (F, BW) and VNNI.
    Avx512Vnni,
}

impl Isa {
    /// All of them, the fastest last.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512Vnni];

    /// The fastest that this processor has.
    pub fn detect() -> Self {
        Self::ALL.into_iter().rev().find(|isa| isa.is_available()).unwrap_or(Self::Portable)
    }

    /// Whether this processor has it.
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                std::arch::is_x86_feature_detected!("avx2")
                    && std::arch::is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => {
                std::arch::is_x86_feature_detected!("avx512f")
                    && std::arch::is_x86_feature_detected!("avx512bw")
                    && std::arch::is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512Vnni => false,
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable => "portable code",
            Self::Avx2 => "AVX2",
            Self::Avx512Vnni => "AVX-512 and VNNI",
        })
    }
}

/// Instructions that were asked for and found: the proof that kernels written for them may be called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found(Isa);

impl Found {
    /// These instructions, or the portable ones where they are missing.
    pub(super) fn new(isa: Isa) -> Self {
        Self(if isa.is_available() { isa } else { Isa::Portable })
    }

    /// Which they are.
    #[inline]
    pub(super) fn isa(self) -> Isa {
        self.0
    }
}
