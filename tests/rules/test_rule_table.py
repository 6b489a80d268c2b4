"""The generated table: it takes in every rule file, and a code or name used twice does not build."""
import subprocess

from conftest import ROOT

RULE = 'extern const Rule {stem}{{.info = {{.code = "{code}", .name = "{name}"}}}};\n'


def generate(folder, rules):
    sources = []
    for stem, code, name in rules:
        path = folder / f"{stem}.cpp"
        path.write_text(RULE.format(stem=stem, code=code, name=name))
        sources.append(str(path))
    plain = folder / "catalogue.cpp"
    plain.write_text("// no rule in here\n")
    output = folder / "rule_table.inc"
    done = subprocess.run(["cmake", f"-DSOURCES={';'.join([*sources, str(plain)])}", f"-DOUTPUT={output}", "-P",
                           ROOT / "cmake" / "rule_table.cmake"], capture_output=True, text=True)
    return done, output


def test_sorted_by_code(tmp_path):
    done, output = generate(tmp_path, [("late", "FG205", "late-hook"), ("early", "FG101", "early-flag")])
    assert done.returncode == 0, done.stderr
    text = output.read_text()
    assert text.index("&early,") < text.index("&late,")
    assert "catalogue" not in text


def test_code_used_twice(tmp_path):
    done, _ = generate(tmp_path, [("first", "FG101", "first-name"), ("second", "FG101", "second-name")])
    assert done.returncode != 0
    assert "second.cpp: the code FG101 is used by another rule" in " ".join(done.stderr.split())


def test_name_used_twice(tmp_path):
    done, _ = generate(tmp_path, [("first", "FG101", "same-name"), ("second", "FG102", "same-name")])
    assert done.returncode != 0
    assert "the name same-name is used by another rule" in " ".join(done.stderr.split())
