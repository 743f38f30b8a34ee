"""A small GPT and a text that never ends: the same weights, batches and losses for the same seed, everywhere."""
import torch
from torch import nn
from torch.nn import functional as F

VOCABULARY, CONTEXT = 256, 256


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def attend(self, x):
        b, t, c = x.shape
        q, k, v = (part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(x).split(c, dim=2))
        weights = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
        weights = weights.masked_fill(torch.ones(t, t, dtype=torch.bool, device=x.device).triu(1), float("-inf"))
        return self.out((F.softmax(weights, dim=-1) @ v).transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = x + self.attend(self.before(x))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Gpt(nn.Module):
    def __init__(self, width=384, layers=6, heads=6):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*[Block(width, heads) for _ in range(layers)])
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)

    def forward(self, tokens, targets):
        x = self.words(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        logits = self.head(self.last(self.blocks(x)))
        return F.cross_entropy(logits.reshape(-1, VOCABULARY), targets.reshape(-1))


def batch(step, rank, size):
    """Bytes of a text with something to learn: words of a small made-up language, drawn by (step, rank)."""
    source = torch.Generator().manual_seed(1_000_003 * step + rank)
    lexicon = torch.Generator().manual_seed(7)
    words = torch.randint(97, 123, (64, 5), generator=lexicon)
    words[:, 4] = 32
    rows = torch.randint(0, 64, (size, CONTEXT // 5 + 2), generator=source).clamp(max=48)
    text = words[rows].reshape(size, -1)
    return text[:, :CONTEXT].contiguous(), text[:, 1:CONTEXT + 1].contiguous()
