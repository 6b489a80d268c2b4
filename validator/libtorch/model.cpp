// What kinds of models have in common.
#include "validator/libtorch/model.h"

#include "validator/libtorch/failure.h"

namespace fullgraph::libtorch {

std::vector<at::Tensor> only_tensors(const std::vector<c10::IValue>& inputs, const std::string& what) {
  std::vector<at::Tensor> out;
  for (const c10::IValue& input : inputs) {
    if (!input.isTensor()) throw Failure(what + " takes tensors only");
    out.push_back(input.toTensor());
  }
  return out;
}

void ask_for_inputs(const std::string& what) {
  throw Failure(what +
                " does not tell what its inputs look like; give them in order with `--input`, like `--input "
                "\"f32[2,16000]\"`, or all of them as a file, `--input FILE`");
}

}  // namespace fullgraph::libtorch
