"""Which class a suite's `problem` stands for."""
from .attention import Attention
from .blocks import GemmBlocks, GroupedBlocks
from .epilogue import Epilogue
from .gemm import Gemm
from .grouped import Grouped
from .norm import NormGemm
from .ranks_attention import RanksAttention
from .ranks_gemm import RanksGemm
from .ranks_moe import RanksMoe
from .ranks_norm import RanksGemmNorm
from .wgrad import WeightGradient

PROBLEMS = {"gemm": Gemm, "epilogue": Epilogue, "norm": NormGemm, "wgrad": WeightGradient, "attention": Attention,
            "grouped": Grouped, "gemm_blocks": GemmBlocks, "grouped_blocks": GroupedBlocks,
            "ranks_gemm": RanksGemm, "ranks_norm": RanksGemmNorm, "ranks_moe": RanksMoe,
            "ranks_attention": RanksAttention}
