"""Makes wave.pt, which examples/jit_finetune.cpp goes on with: a network that has learned sin(3 x), traced.

    python examples/jit_finetune/trace.py
"""

import pathlib

import torch
from torch import nn

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for _ in range(500):
    x = torch.rand(256, 1) * 2 - 1
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), torch.sin(3 * x)).backward()
    optimizer.step()

traced = torch.jit.trace(model, torch.zeros(1, 1))
traced.save(pathlib.Path(__file__).with_name("wave.pt"))
