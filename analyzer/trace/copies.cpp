#include "analyzer/trace/copies.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "analyzer/trace/stacks.h"

namespace fullgraph::trace {

namespace {

// ---------------------------------------------------------------------------------------------------- bytes

class Writer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }
  template <class T, class Put>
  void put_all(const T& list, const Put& put_one) {
    put(list.size());
    for (const auto& one : list) put_one(one);
  }
  // With its length in front.
  [[nodiscard]] std::string framed() const {
    Writer out;
    out.put(bytes_);
    return std::move(out.bytes_);
  }

 private:
  std::string bytes_;
};

// Of what this very program has written.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get(T& value) {
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  void get(std::string& text) {
    std::size_t size = 0;
    get(size);
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  template <class T, class Get>
  void get_all(std::vector<T>& list, const Get& get_one) {
    std::size_t size = 0;
    get(size);
    list.resize(size);
    for (T& one : list) get_one(one);
  }

 private:
  std::string_view rest_;
};

// What is done to each part of an event, reading and writing. It does not compile once an event has other parts.
template <class Event, class Do, class DoList>
void each_part(Event& event, const Do& part, const DoList& list) {
  auto& [kind, where, function, root, path, condition, unusual, needs_training, needs_grad, traced, region, gb_id,
         callee, subject, detail, origin, value, before, checkpoint, related, statements] = event;
  part(kind), part(where), part(function), part(root);
  list(path, [&](auto& call) { part(call.where), part(call.function); });
  part(condition), part(unusual), part(needs_training), part(needs_grad), part(traced), part(region);
  part(gb_id), part(callee), part(subject), part(detail), part(origin), part(value), part(before), part(checkpoint);
  list(related, [&](auto& place) { part(place.where), part(place.message); });
  list(statements, [&](auto& place) { part(place); });
}

void put_unit(Writer& out, const Unit& unit) {
  const auto& [kind, module, id, script, scanned] = unit;
  out.put(kind), out.put(module), out.put(id), out.put(script);
  out.put_all(scanned, [&](ir::FunctionId function) { out.put(function); });
}

Unit get_unit(Reader& in) {
  Unit unit;
  in.get(unit.kind), in.get(unit.module), in.get(unit.id), in.get(unit.script);
  in.get_all(unit.scanned, [&](ir::FunctionId& function) { in.get(function); });
  return unit;
}

// ---------------------------------------------------------------------------------------------------- pipes

bool write_all(int to, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(to, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Appends what can be read now. False: the other end is closed.
bool read_some(int from, std::string& into) {
  std::array<char, 64u << 10> bytes;
  ssize_t count = 0;
  do {
    count = ::read(from, bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  into.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

// Takes a whole message from the front of what was received.
std::optional<std::string> take_message(std::string& received) {
  std::size_t size = 0;
  if (received.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, received.data(), sizeof size);
  if (received.size() - sizeof size < size) return std::nullopt;
  std::string out = received.substr(sizeof size, size);
  received.erase(0, sizeof size + size);
  return out;
}

bool has_ended(pid_t process, int how) {
  pid_t done = 0;
  do {
    done = ::waitpid(process, nullptr, how);
  } while (done < 0 && errno == EINTR);
  return done != 0;
}

// ---------------------------------------------------------------------------------------------------- in a copy

// Traces what it is told to until nobody tells it anything.
void serve(python::Program& program, Interpreter& interpreter, int from, int to) {
  std::string received;
  program.take_asked();
  while (true) {
    std::optional<std::string> message;
    while (!(message = take_message(received))) {
      if (!read_some(from, received)) return;
    }
    Reader in(*message);
    Trail trail = run_unit(interpreter, get_unit(in));
    Writer out;
    out.put_all(program.take_asked(), [&](const std::string& name) { out.put(name); });
    out.put_all(trail.events, [&](const Event& event) {
      each_part(
          event, [&](const auto& part) { out.put(part); },
          [&](const auto& list, const auto& put_one) { out.put_all(list, put_one); });
    });
    out.put_all(trail.reached, [&](const ir::Function* function) { out.put(function); });
    std::vector<std::pair<const ir::Module*, const ir::Module*>> uses;
    for (const auto& [user, all] : interpreter.module_uses()) {
      for (const ir::Module* used : all) uses.emplace_back(user, used);
    }
    out.put_all(uses, [&](const auto& use) { out.put(use.first), out.put(use.second); });
    interpreter.forget_uses();
    if (!write_all(to, out.framed())) return;
  }
}

}  // namespace

// ---------------------------------------------------------------------------------------------------- here

bool Copies::start() {
  std::array<int, 2> down{-1, -1}, up{-1, -1};
  if (::pipe(down.data()) != 0) return false;
  if (::pipe(up.data()) != 0) {
    ::close(down[0]), ::close(down[1]);
    return false;
  }
  const pid_t process = ::fork();
  if (process == 0) {
    // An editor that ends this process must not wait for its copies.
    ::close(down[1]), ::close(up[0]);
    for (const Copy& other : copies_) ::close(other.to), ::close(other.from);
    ::close(STDIN_FILENO), ::close(STDOUT_FILENO);
    run_on_large_stacks(1, [&](unsigned) { serve(program_, interpreter_, down[0], up[1]); });
    ::_exit(0);
  }
  ::close(down[0]), ::close(up[1]);
  if (process < 0) {
    ::close(down[1]), ::close(up[0]);
    return false;
  }
  copies_.push_back({process, down[1], up[0], std::nullopt, {}});
  return true;
}

void Endings::add(pid_t process) {
  constexpr std::size_t most = 8;
  // It has nothing to put in order.
  ::kill(process, SIGKILL);
  processes_.push_back(process);
  std::erase_if(processes_, [](pid_t one) { return has_ended(one, WNOHANG); });
  while (processes_.size() > most) {
    has_ended(processes_.front(), 0);
    processes_.erase(processes_.begin());
  }
}

Endings::~Endings() {
  for (const pid_t process : processes_) has_ended(process, 0);
}

void Copies::end() {
  for (Copy& copy : copies_) {
    ::close(copy.to), ::close(copy.from);
    endings_.add(copy.process);
  }
  copies_.clear();
}

bool Copies::give(Copy& copy, std::size_t index, const Unit& unit) {
  Writer out;
  put_unit(out, unit);
  copy.unit = index;
  return write_all(copy.to, out.framed());
}

bool Copies::run(std::span<const Unit* const> units, unsigned count, const std::function<bool()>& cancelled,
                 const std::function<void(std::size_t, std::optional<Result>)>& take) {
  constexpr int patience = 20;    // milliseconds between two looks at whether it is cancelled
  std::vector<std::size_t> open;  // the next is the last
  for (std::size_t i = units.size(); i-- > 0;) open.push_back(i);
  std::size_t left = units.size();
  while (left > 0) {
    if (cancelled && cancelled()) {
      end();
      return false;
    }
    while (copies_.size() < std::min<std::size_t>(count, left)) {
      if (start()) continue;
      if (copies_.empty()) return false;
      break;
    }
    std::vector<pollfd> waiting;
    for (Copy& copy : copies_) {
      if (!copy.unit && !open.empty()) {
        give(copy, open.back(), *units[open.back()]);  // a copy that is gone is noticed below
        open.pop_back();
      }
      waiting.push_back({copy.from, POLLIN, 0});
    }
    if (::poll(waiting.data(), waiting.size(), patience) < 0 && errno != EINTR) return false;
    bool renew = false;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents == 0 || !copies_[i].unit) continue;
      Copy& copy = copies_[i];
      const std::size_t index = *copy.unit;
      if (!read_some(copy.from, copy.received)) {
        take(index, std::nullopt);
        --left;
        copy.unit.reset();
        renew = true;
        continue;
      }
      const auto message = take_message(copy.received);
      if (!message) continue;
      copy.unit.reset();
      Reader in(*message);
      std::vector<std::string> asked;
      in.get_all(asked, [&](std::string& name) { in.get(name); });
      bool foreign = false;
      for (const std::string& name : asked) foreign = program_.find(name) != nullptr || foreign;
      if (foreign) {  // it speaks of modules that were not here; they are now
        open.push_back(index);
        renew = true;
        continue;
      }
      Result result;
      in.get_all(result.trail.events, [&](Event& event) {
        each_part(
            event, [&](auto& part) { in.get(part); },
            [&](auto& list, const auto& get_one) { in.get_all(list, get_one); });
      });
      in.get_all(result.trail.reached, [&](const ir::Function*& function) { in.get(function); });
      in.get_all(result.uses, [&](auto& use) { in.get(use.first), in.get(use.second); });
      take(index, std::move(result));
      --left;
    }
    if (renew) {
      for (const Copy& copy : copies_) {
        if (copy.unit) open.push_back(*copy.unit);
      }
      end();
    }
  }
  return true;
}

}  // namespace fullgraph::trace
