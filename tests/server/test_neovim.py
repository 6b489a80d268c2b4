"""Neovim as the client: open, edit, findings, a code action, save."""
from __future__ import annotations

import json
import shutil
import subprocess

import pytest

import server_models as models
from conftest import PROGRAM

NEOVIM = shutil.which("nvim")

SCRIPT = """
local program, out = ...
local function wait_for(what, test)
  if not vim.wait(30000, test, 20) then error("timed out: " .. what) end
end
local function findings()
  local list = {}
  for _, d in ipairs(vim.diagnostic.get(0)) do
    table.insert(list, {line = d.lnum + 1, column = d.col, code = d.code or d.user_data.lsp.code, message = d.message})
  end
  return list
end
local function has(code)
  for _, f in ipairs(findings()) do if f.code == code then return true end end
  return false
end

local told = {}
vim.cmd("edit model.py")
vim.bo.filetype = "python"
local client = vim.lsp.start_client({name = "fullgraph", cmd = {program, "server"}, root_dir = vim.fn.getcwd()})
vim.lsp.buf_attach_client(0, client)
wait_for("findings", function() return has("FG301") end)
told.first = findings()

-- Two lines more above everything: findings move with the text.
vim.api.nvim_buf_set_lines(0, 0, 0, false, {"# one", "# two é😀"})
wait_for("moved findings", function() return findings()[1] and findings()[1].line == told.first[1].line + 2 end)
told.moved = findings()

-- The fix of the reentrant checkpoint, as a person would choose it.
local line
for _, f in ipairs(findings()) do if f.code == "FG301" then line = f.line end end
local place = {line = line - 1, character = 0}
local params = {textDocument = vim.lsp.util.make_text_document_params(), range = {start = place, ["end"] = place},
                context = {diagnostics = vim.lsp.diagnostic.get_line_diagnostics(0, line - 1)}}
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 10000)
for _, action in ipairs(answers[client].result) do
  if action.title:find("^FG301") and not action.title:find("Suppress") then
    vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(client).offset_encoding)
    break
  end
end
wait_for("the repaired finding to go", function() return not has("FG301") end)
told.repaired = findings()

local hover = vim.lsp.buf_request_sync(0, "textDocument/hover", {
  textDocument = vim.lsp.util.make_text_document_params(),
  position = {line = told.repaired[1].line - 1, character = told.repaired[1].column}}, 10000)
told.hover = hover[client].result.contents.value

vim.cmd("write")
vim.lsp.stop_client(client)
wait_for("the server to end", function() return vim.lsp.client_is_stopped(client) end)
local file = io.open(out, "w")
file:write(vim.fn.json_encode(told))
file:close()
"""


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed")
def test_open_edit_repair_save(project, tmp_path):
    script, out = tmp_path / "test.lua", tmp_path / "told.json"
    script.write_text(SCRIPT)
    call = f"lua local ok, e = pcall(assert(loadfile({json.dumps(str(script))})), {json.dumps(str(PROGRAM))}, " \
           f"{json.dumps(str(out))}); if not ok then io.stderr:write(tostring(e)) vim.cmd('cquit') end"
    done = subprocess.run([NEOVIM, "--headless", "--clean", "-n", "-c", call, "-c", "qall!"], cwd=project,
                          capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    told = json.loads(out.read_text())
    where = lambda found: sorted((f["line"], f["code"]) for f in found)  # noqa: E731
    assert where(told["moved"]) == [(line + 2, code) for line, code in where(told["first"])]
    assert set(where(told["repaired"])) == {f for f in where(told["moved"]) if f[1] != "FG301"}
    assert "## What it does" in told["hover"]
    saved = (project / "model.py").read_text()
    assert saved.startswith("# one\n# two é😀\n")
    assert "use_reentrant=False" in saved and models.MODEL.splitlines()[-1] not in saved
