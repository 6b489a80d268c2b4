import pathlib
import sys

# The models of recorded_models.py are found by name when archives of them are made and loaded.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
