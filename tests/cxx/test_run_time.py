"""What the findings say of run time, shown by running the fixtures: all of them are compiled into one program."""
from __future__ import annotations

import re
import subprocess

import pytest
from conftest import ROOT
from clang_worker import TORCH

SOURCES = sorted((ROOT / "fixtures" / "cxx").glob("*.cpp"))
SYSTEM = "#include <sys/wait.h>\n#include <unistd.h>\n"
INCLUDE = re.compile(r"^#include <.+>$", re.MULTILINE)

MAIN = """
void say(const char* name, double value) { std::cout << "@" << name << " " << value << std::endl; }

int main() {
  torch::manual_seed(0);
  auto x = torch::ones({4, 4});
  {
    non_leaf::Throws model;
    int thrown = 0;
    try { model->forward(x); } catch (const c10::Error& error) {
      thrown = std::string(error.what()).find("leaf") != std::string::npos;
    }
    say("non_leaf", thrown);
    torch::NoGradGuard guard;
    model->forward(x);
    say("non_leaf_without_gradients", 0);
  }
  {
    non_leaf::Ignored model;
    say("non_leaf_ignored", model->forward(x).requires_grad());
  }
  {
    detached::Stop model;
    model->forward(x);
    say("detached", 0);
  }
  {
    persistent_hook::Scaled model;
    for (int i = 0; i < 2; ++i) model->forward(x);
    model->forward(x).sum().backward();
    say("persistent_hook", model->weight.grad()[0][0].item<double>() / 4);
  }
  {
    hook_of_the_pass::Scaled model;
    for (int i = 0; i < 2; ++i) model->forward(x);
    model->forward(x).sum().backward();
    say("hook_of_the_pass", model->weight.grad()[0][0].item<double>() / 4);
  }
  {
    leaf_in_the_middle::Cut model;
    model->forward(x).sum().backward();
    say("leaf_in_the_middle", model->fc->weight.grad().defined());
  }
  {
    flag_of_input::Forces model;
    auto positions = torch::ones({3});
    model->forward(positions);
    say("flag_of_input", positions.requires_grad());
  }
  {
    nested_backward::Block model;
    auto input = torch::ones({4}).requires_grad_(true);
    torch::autograd::grad({model->forward(input).sum()}, {input});
    say("nested_backward", model->weight.grad().defined());
  }
  {
    hook_captures::Keeps model;
    model->forward(x).backward();
    say("hook_captures", !model->last.expired());
  }
  {
    hook_captures_others::Others model;
    model->forward(x).backward();
    say("hook_captures_others", !model->last.expired());
  }
  {
    saved_data::Scaled model;
    auto input = torch::ones({4}).requires_grad_(true);
    auto output = model->forward(input).sum();
    torch::NoGradGuard guard;
    model->weight.mul_(3);
    say("saved_data", torch::autograd::grad({output}, {input})[0][0].item<double>());
  }
  {
    saved_for_backward::Scaled model;
    auto input = torch::ones({4}).requires_grad_(true);
    auto output = model->forward(input).sum();
    torch::NoGradGuard guard;
    model->weight.mul_(3);
    int thrown = 0;
    try { torch::autograd::grad({output}, {input}); } catch (const c10::Error& error) {
      thrown = std::string(error.what()).find("modified by an inplace operation") != std::string::npos;
    }
    say("saved_for_backward", thrown);
  }
  {
    own_derivative::Block model;
    auto input = torch::ones({4}).requires_grad_(true);
    torch::autograd::grad({model->forward(input).sum()}, {input});
    say("own_derivative", model->weight.grad().defined());
  }
  {
    retain_grad::Keeps model;
    model->forward(x);
    int thrown = 0;
    torch::NoGradGuard guard;
    try { model->forward(x); } catch (const c10::Error& error) {
      thrown = std::string(error.what()).find("requires_grad=False") != std::string::npos;
    }
    say("retain_grad", thrown);
    retain_grad_asked::Keeps()->forward(x);
    say("retain_grad_asked", 0);
  }
  {
    auto input = torch::ones({1}).requires_grad_(true);
    calls_below::twice(input).backward();
    say("calls_below", input.grad().item<double>());
    if (const pid_t child = fork(); child == 0) {  // the stack overflows
      calls_itself::twice(input);
      _exit(0);
    } else {
      int status = 0;
      waitpid(child, &status, 0);
      say("calls_itself", WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
  }
}
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory) -> dict[str, float]:
    """Compiles and runs all fixtures, each in a namespace of its own."""
    folder = tmp_path_factory.mktemp("program")
    includes, spaces = set(), []
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        includes |= set(INCLUDE.findall(text))
        spaces.append(f"namespace {path.stem} {{\n{INCLUDE.sub('', text)}}}\n")
    program = folder / "program.cpp"
    program.write_text("\n".join(sorted(includes | {"#include <iostream>"})) + "\n" + SYSTEM + "".join(spaces) + MAIN)
    flags = ["-std=c++20", "-O0", "-w", "-isystem", f"{TORCH}/include",
             "-isystem", f"{TORCH}/include/torch/csrc/api/include"]
    libraries = [f"-L{TORCH}/lib", f"-Wl,-rpath,{TORCH}/lib", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu", "-lc10"]
    subprocess.run(["g++", *flags, program, "-o", folder / "program", *libraries], check=True, timeout=600)
    done = subprocess.run([folder / "program"], check=True, capture_output=True, text=True, timeout=120)
    return {name: float(value) for name, value in re.findall(r"^@(\w+) (\S+)$", done.stdout, re.MULTILINE)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("non_leaf", 1),  # it throws …
        ("non_leaf_without_gradients", 0),  # … while gradients are recorded
        ("non_leaf_ignored", 1),  # the flag is as it was
        ("detached", 0),
        ("persistent_hook", 0.5**3),  # one hook more in each of three calls
        ("hook_of_the_pass", 0.5),
        ("leaf_in_the_middle", 0),  # the encoder gets no gradient
        ("flag_of_input", 1),  # the caller's tensor is another one
        ("nested_backward", 1),  # the inner pass leaves gradients that nobody asked for
        ("own_derivative", 0),
        ("hook_captures", 1),  # what forward has computed is still there after all that used it
        ("hook_captures_others", 0),
        ("saved_data", 0.5 * 3),  # the derivative at the weight as it was is 0.5
        ("saved_for_backward", 1),  # the same change is told
        ("retain_grad", 1),  # it throws without gradients
        ("retain_grad_asked", 0),
        ("calls_itself", 1),  # the stack overflows
        ("calls_below", 2),
    ],
)
def test_claim(said, name, value):
    assert said[name] == pytest.approx(value)
