"""The models of benchmarks/step/replica.cpp, with the same data and PyTorch's fused optimizers."""
import torch
from torch import nn

CLASSES = 10


def make_mlp(width):
    return nn.Sequential(nn.Flatten(), nn.Linear(784, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                         nn.Linear(width, width), nn.ReLU(), nn.Linear(width, CLASSES))


def make_cnn():
    return nn.Sequential(nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(32, 64, 3, padding=1),
                         nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(64 * 7 * 7, 128), nn.ReLU(),
                         nn.Linear(128, CLASSES))


def make_optimizer(model, rule):
    if rule == "sgd":
        return torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9, fused=True)
    return torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
