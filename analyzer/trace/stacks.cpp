#include "analyzer/trace/stacks.h"

#include <pthread.h>

#include <cstddef>
#include <vector>

namespace fullgraph::trace {

namespace {
constexpr std::size_t kStackBytes = 256u << 20;
}

void run_on_large_stacks(unsigned count, const std::function<void(unsigned)>& body) {
  struct Job {
    const std::function<void(unsigned)>* body;
    unsigned index;
  };
  std::vector<pthread_t> threads(count);
  std::vector<Job> jobs(count);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  std::vector<bool> started(count, false);
  for (unsigned i = 0; i < count; ++i) {
    jobs[i] = {&body, i};
    started[i] = pthread_create(
                     &threads[i], &attributes,
                     [](void* raw) -> void* {
                       auto* job = static_cast<Job*>(raw);
                       (*job->body)(job->index);
                       return nullptr;
                     },
                     &jobs[i]) == 0;
    if (!started[i]) body(i);
  }
  for (unsigned i = 0; i < count; ++i) {
    if (started[i]) pthread_join(threads[i], nullptr);
  }
  pthread_attr_destroy(&attributes);
}

}  // namespace fullgraph::trace
