"""Makes tests/golden/all_types.safetensors with Python's safetensors: `pip install torch safetensors`, run in this folder."""
import torch
from safetensors.torch import save_file

save_file(
    {
        "fc.weight": torch.arange(6, dtype=torch.float32).reshape(2, 3) / 4,
        "fc.bias": torch.tensor([-0.0, float("inf")], dtype=torch.float64),
        "half": torch.tensor([1.0, -2.5, 65504.0], dtype=torch.float16),
        "brain": torch.tensor([1.0, -3.0], dtype=torch.bfloat16),
        "count": torch.tensor(1 << 40, dtype=torch.int64),
        "index": torch.tensor([-1, 7], dtype=torch.int32),
        "pixels": torch.tensor([[0], [255], [7]], dtype=torch.uint8),
        "empty": torch.zeros(0, 4),
        "größe \"quoted\"": torch.tensor([2.0]),
    },
    "all_types.safetensors",
    metadata={"format": "pt"},
)
