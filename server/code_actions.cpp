#include "server/code_actions.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/python/parse.h"
#include "cli/statement_lines.h"
#include "cli/suppression.h"
#include "fixer/apply.h"

namespace fullgraph::server {

namespace {

constexpr std::string_view quick_fix_kind = "quickfix";

// Edits by file, as a WorkspaceEdit.
class EditList {
 public:
  EditList(const Look& look, bool document_changes) : look_(look), document_changes_(document_changes) {}

  void add(const std::string& path, const Range& range, std::string text) {
    by_path_[path].push_back({{"range", to_json(range)}, {"newText", std::move(text)}});
  }

  [[nodiscard]] Json json(const Converter& converter) const {
    Json list = Json::array(), map = Json::object();
    for (const auto& [path, edits] : by_path_) {
      const std::string uri = converter.uri_of(path);
      const auto open = look_.open.find(path);
      Json version = open == look_.open.end() ? Json(nullptr) : Json(open->second.version);
      list.push_back({{"textDocument", {{"uri", uri}, {"version", std::move(version)}}}, {"edits", edits}});
      map[uri] = edits;
    }
    return document_changes_ ? Json{{"documentChanges", std::move(list)}} : Json{{"changes", std::move(map)}};
  }

 private:
  const Look& look_;
  bool document_changes_;
  std::map<std::string, Json> by_path_;
};

// Is the text that the finding is about the one that the editor has?
bool is_current(const Look& look, const std::string& path, const Place& place) {
  const auto open = look.open.find(path);
  return place.source != nullptr && (open == look.open.end() || open->second.source->text() == place.source->text());
}

std::optional<Json> edit_of(const Finding& finding, const std::vector<Edit>& edits, const Look& look,
                            const Abilities& abilities, Converter& converter, bool document_changes) {
  EditList list(look, document_changes);
  for (const Edit& edit : edits) {
    const std::string path = finding.path_of(edit.place);
    if (!is_current(look, path, edit.place)) return std::nullopt;
    const ir::SourceFile& source = *edit.place.source;
    list.add(path,
             {position_of(source, edit.place.span.begin, abilities.encoding),
              position_of(source, edit.place.span.end, abilities.encoding)},
             fixer::with_line_ends(edit.text, source.line_end(edit.place.span.begin)));
  }
  return list.json(converter);
}

}  // namespace

bool is_wanted(const std::vector<std::string>& only, std::string_view kind) {
  return only.empty() || std::ranges::any_of(only, [&](const std::string& wanted) {
           return wanted.empty() || kind == wanted || (kind.starts_with(wanted) && kind[wanted.size()] == '.');
         });
}

// A comment that names codes gets one more; else a new one goes to the end of the line.
Edit suppression_of(const Diagnostic& finding) {
  const auto& source = finding.place.source;
  const unsigned line = cli::statement_lines(finding.place).last;
  const auto line_begin = source->line_start(line);
  const auto line_end = line_begin + static_cast<std::uint32_t>(source->line_text(line).size());
  const auto module = python::parse(source, "module", false);
  for (const cli::Directive& directive : cli::directives_of(*module)) {
    if (directive.kind != cli::DirectiveKind::Ignore || directive.own_line || directive.codes.empty()) continue;
    if (directive.span.begin < line_begin || directive.span.end > line_end) continue;
    const std::uint32_t behind = directive.codes.back().span.end;
    return {{source, {behind, behind}}, ", " + finding.code};
  }
  std::uint32_t end = line_end;
  while (end > line_begin && (source->text()[end - 1] == ' ' || source->text()[end - 1] == '\t')) --end;
  return {{source, {end, line_end}}, "  # fullgraph: ignore[" + finding.code + "]"};
}

Json quick_fixes(const Look& look, const Abilities& abilities, const ActionRequest& request) {
  Json out = Json::array();
  const auto found = look.findings.find(request.path);
  if (found == look.findings.end() || !is_wanted(request.only, quick_fix_kind)) return out;
  Converter converter(look, abilities);
  std::vector<Json> suppressions;
  for (const Finding& finding : found->second) {
    const Diagnostic& said = finding.diagnostic;
    const auto range = converter.range(finding);
    if (!range || range->end.line < request.range.start.line || range->start.line > request.range.end.line) continue;
    if (!is_current(look, request.path, said.place)) continue;
    const auto diagnostic = converter.diagnostic(finding);
    const auto action = [&](std::string title, const std::vector<Edit>& edits) -> std::optional<Json> {
      auto edit = edit_of(finding, edits, look, abilities, converter, request.document_changes);
      if (!edit) return std::nullopt;
      return Json{{"title", std::move(title)},
                  {"kind", quick_fix_kind},
                  {"diagnostics", Json::array({*diagnostic})},
                  {"edit", std::move(*edit)}};
    };
    bool first = true;
    for (const Fix& fix : said.fixes) {
      if (!is_applicable(fix, true)) continue;
      const bool safe = fix.applicability == Applicability::Safe;
      auto one = action(fmt::format("{}: {}{}", said.code, fix.message, safe ? "" : " (unsafe)"), fix.edits);
      if (!one) continue;
      if (std::exchange(first, false) && safe && request.preferred) (*one)["isPreferred"] = true;
      out.push_back(std::move(*one));
    }
    // What the parser cannot read is in no statement.
    if (!request.suppressions || said.code == "FG902") continue;
    if (auto one = action(fmt::format("{}: Suppress on this line", said.code), {suppression_of(said)}))
      suppressions.push_back(std::move(*one));
  }
  for (Json& one : suppressions) out.push_back(std::move(one));
  return out;
}

Json edit_of(const Repairs& repairs, const Look& look, const Abilities& abilities, bool document_changes) {
  EditList list(look, document_changes);
  const Converter converter(look, abilities);
  for (const auto& [path, text] : repairs.texts) {
    const ir::SourceFile source(path, text.before);
    const auto [before, after] = Moved(text.before, text.after).changed();
    list.add(
        path,
        {position_of(source, before.begin, abilities.encoding), position_of(source, before.end, abilities.encoding)},
        text.after.substr(after.begin, after.end - after.begin));
  }
  return list.json(converter);
}

}  // namespace fullgraph::server
