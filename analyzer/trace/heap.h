// Owns abstract objects and records their changes.
//
// Branches whose condition is not known are tried one after the other: run the first, take its changes aside, undo
// them, run the second, and join the two. The journal holds what is needed to undo: for each change the object, the
// place in it, and the old content.
#pragma once

#include <deque>
#include <memory>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analyzer/trace/objects.h"

namespace fullgraph::trace {

class Heap {
 private:
  struct Place;
  struct PlaceHash;
  struct Content;
  struct Entry;

 public:
  Heap();
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  template <class T, class... Args>
  T* make(Args&&... args) {
    T* raw = nullptr;
    if (persistent_) {
      auto owned = std::make_unique<T>(std::forward<Args>(args)...);
      raw = owned.get();
      lasting_.push_back(std::move(owned));
    } else {
      raw = new (arena_.allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
      passing_.push_back(raw);
    }
    raw->serial = ++serial_;
    raw->lasting = persistent_;
    return raw;
  }

  [[nodiscard]] std::uint32_t serial() const { return serial_; }

  // Common values.
  Value none, yes, no, unknown, ellipsis, not_implemented;
  Value root_argument;  // an element of a root's unknown *args: whatever the parameter that takes it declares
  Value boolean(bool value) const { return value ? yes : no; }
  Value integer(std::int64_t value);
  Value real(double value);
  Value string(std::string_view value);
  Value typed(Kind kind, const Sym* sym = nullptr);  // a scalar of which only the type is known
  Value symbolic(const Sym* sym);                    // nothing known but its name
  Value copy_scalar(Value value);  // a copy of its own of a scalar or symbolic value; others as they are
  SequenceObject* sequence(Kind kind, std::vector<Value> items);
  SequenceObject* some(Kind kind, Value element);  // inexact
  TensorObject* tensor(Origin origin);
  DictObject* dict();

  // The Sym with this text; equal texts are one Sym.
  const Sym* sym(std::string_view text, Sym::What what = Sym::What::Plain);
  // A Sym of its own for `key` that reads as `text`.
  const Sym* sym_of(std::string_view key, std::string_view text, Sym::What what = Sym::What::Plain);
  // That of an attribute: "config.hidden_size".
  const Sym* member_sym(const Sym* object, ir::Symbol name);

  // ---- change, through the journal
  void set_slot(EnvObject* env, std::size_t slot, Value value);
  void set_name(EnvObject* env, ir::Symbol name, Value value);
  void set_attribute(Object* object, AttrMap& map, ir::Symbol name, Value value);
  SequenceObject* change(SequenceObject* sequence);  // call before changing; returns its argument
  DictObject* change(DictObject* dict);
  TensorObject* change(TensorObject* tensor);
  IteratorObject* change(IteratorObject* iterator);
  InstanceObject* change_module(InstanceObject* instance);  // its ModuleState and payload
  bool* flag(bool value);                                   // lasts until `clear`
  void set_flag(bool* flag, bool value);
  void set_value(Value* place, Value value);

  // A place in the journal to go back to. What is made after it cannot be seen from before it, so changes of such
  // objects need no journal entry. Every mark is ended by exactly one of rollback, close, take and commit.
  struct Mark {
    std::size_t position = 0;
    std::uint32_t serial = 0;  // of the mark around it
  };
  [[nodiscard]] Mark mark() {
    Mark result{journal_.size(), open_serial_};
    open_serial_ = serial_;
    return result;
  }
  void rollback(Mark mark);
  // Ends a mark and keeps the changes, which the mark around it can still undo. Were there none?
  bool close(Mark mark) {
    open_serial_ = mark.serial;
    return journal_.size() == mark.position;
  }
  // Undoes everything: between roots.
  void rollback_all() {
    rollback(Mark{0, serial_});
    open_serial_ = serial_;
  }

  // The changes since `mark`, undone and taken aside: each place with the content that it had at the end.
  class Changes;
  Changes take(Mark mark);
  // Applies changes again as they are.
  void apply(const Changes& changes);
  // Sets every place that either branch changed to the join of what the two left there.
  void join(const Changes& first, const Changes& second);
  // Joins what a branch that was left early has written into what is there now.
  void weaken(const Changes& changes);
  // Keeps the changes since `mark` for good: nothing will undo them.
  void commit(Mark mark);

  [[nodiscard]] Value join(Value a, Value b);

  // Objects made while persistent outlive `clear`.
  class Persistent;
  void clear();  // drops all passing objects; the journal must be empty

 private:
  friend class Persistent;
  void record(Entry entry);
  Content content(const Place& place) const;
  void put(const Place& place, const Content& content);
  Content join(const Content& a, const Content& b, const Place& place);

  bool persistent_ = false;
  std::uint32_t serial_ = 0;
  std::uint32_t open_serial_ = 0;  // number of the last object made before the innermost mark
  [[nodiscard]] bool is_new(const Object* object) const {
    return object->serial > open_serial_ && (persistent_ || !object->lasting);
  }
  std::vector<std::unique_ptr<Object>> lasting_;
  // Those of one root live in memory that the next root uses again.
  std::vector<std::byte> first_block_;
  std::pmr::monotonic_buffer_resource arena_;
  std::vector<Object*> passing_;
  std::deque<bool> flags_;
  std::vector<Entry> journal_;
  std::unordered_map<std::string, std::unique_ptr<Sym>> syms_;
  std::unordered_map<std::uint64_t, const Sym*> member_syms_;  // by id of the object's and name: what is asked most
  std::vector<Value> small_integers_;
};

// Where a change happened. `slot` and `name` are used by kind.
struct Heap::Place {
  enum class Kind : std::uint8_t { Slot, Name, Attribute, Sequence, Dict, Tensor, Iterator, Module, Flag, Cell };
  Kind kind;
  void* object;             // EnvObject, AttrMap, SequenceObject, …, bool, Value
  std::uint64_t key = 0;    // slot or symbol id
  Object* owner = nullptr;  // the object that an AttrMap belongs to
  bool operator==(const Place& other) const { return kind == other.kind && object == other.object && key == other.key; }
};

struct Heap::PlaceHash {
  std::size_t operator()(const Place& place) const noexcept {
    return (reinterpret_cast<std::uintptr_t>(place.object) >> 3) * 31 + place.key;
  }
};

struct Heap::Content {
  Value value = nullptr;
  bool flag = false;
  std::shared_ptr<Object> copy;  // of sequences, dicts, tensors, iterators, instances (state and payload only)
  Content(Value v = nullptr, bool f = false, std::shared_ptr<Object> c = nullptr)
      : value(v), flag(f), copy(std::move(c)) {}
};

struct Heap::Entry {
  Place place;
  Content old;
};

class Heap::Changes {
 public:
  struct Change {
    Place place;
    Content before, after;
  };
  std::vector<Change> list;
  // Could code that runs after these changes take another way than before them? Tensors stay tensors and containers
  // containers; a None that became something, or another flag or number, may decide a branch.
  [[nodiscard]] bool affects_control_flow() const;
  [[nodiscard]] const Change* find(const Place& place) const;  // looks at each
  void keep_flags();                                           // leaves out all but flags
  // Leaves out changes of the variables of `env`.
  void drop(const EnvObject* env);
};

class Heap::Persistent {
 public:
  explicit Persistent(Heap& heap) : heap_(heap), before_(heap.persistent_) { heap.persistent_ = true; }
  ~Persistent() { heap_.persistent_ = before_; }
  Persistent(const Persistent&) = delete;
  Persistent& operator=(const Persistent&) = delete;

 private:
  Heap& heap_;
  bool before_;
};

}  // namespace fullgraph::trace
