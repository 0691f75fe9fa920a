"""Makes tests/golden/python_state_dict.safetensors: `pip install torch safetensors`, run in this folder.

Prints the model's output on the fixed input, which tests/unit/tensor/safetensors_io_test.cpp expects.
"""
import torch
from safetensors.torch import save_file

torch.manual_seed(3)
model = torch.nn.Sequential(
    torch.nn.Conv2d(1, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(48, 5))
model(torch.randn(16, 1, 6, 6) * 2 + 1)  # moves the running statistics
save_file(model.state_dict(), "python_state_dict.safetensors", metadata={"format": "pt"})

x = torch.arange(72.0).reshape(2, 1, 6, 6) / 36 - 1
with torch.no_grad():
    print(model.eval()(x).tolist())
