"""python -m fullgraph ARGS…: the same as fullgraph ARGS…"""
import os
import sys

from fullgraph import program

if __name__ == "__main__":
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
