"""What the real Dynamo does with a model, measured in the environment of the model, which needs nothing but torch.

`fullgraph validate` carries this package, writes it to a temporary folder and starts it there (`__main__`); `tools/record` uses
the same modules. The package goes by a name of its own while it runs, so that none of its modules can hide one of the
project's.
"""
from .cases import Case
from .decode import decode_step

__all__ = ["Case", "decode_step"]
