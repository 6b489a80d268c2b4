// What git says of a folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fullgraph::cli {

// git starts programs that a repository names, when it looks at the contents of files (filters). A repository of
// another owner is therefore refused unless the command looks at names alone.
enum class Trust : std::uint8_t { OwnRepositories, OnlyNames };

// What git prints; nothing when there is no git or it fails. Variables whose names begin with "GIT_" are not handed on:
// inside a git hook they would point git at another repository.
std::optional<std::string> run_git(const std::string& folder, const std::vector<std::string>& arguments, Trust trust);

// Of a command that failed, the first line of what git says of it; asks git once more.
std::string complaint_of_git(const std::string& folder, const std::vector<std::string>& arguments, Trust trust);

// The parts of a listing with `-z`.
std::vector<std::string> names_in(std::string_view listing);

}  // namespace fullgraph::cli
