// Identifiers that Python or PyTorch give a meaning to, interned once.
#pragma once

#include "analyzer/ir/symbol.h"

namespace fullgraph::trace::names {

using ir::Symbol;

inline const Symbol init = Symbol::intern("__init__");
inline const Symbol new_ = Symbol::intern("__new__");
inline const Symbol call = Symbol::intern("__call__");
inline const Symbol forward = Symbol::intern("forward");
inline const Symbol backward = Symbol::intern("backward");
inline const Symbol bool_ = Symbol::intern("__bool__");
inline const Symbol len = Symbol::intern("__len__");
inline const Symbol iter = Symbol::intern("__iter__");
inline const Symbol next = Symbol::intern("__next__");
inline const Symbol getitem = Symbol::intern("__getitem__");
inline const Symbol setitem = Symbol::intern("__setitem__");
inline const Symbol contains = Symbol::intern("__contains__");
inline const Symbol getattr = Symbol::intern("__getattr__");
inline const Symbol setattr = Symbol::intern("__setattr__");
inline const Symbol enter = Symbol::intern("__enter__");
inline const Symbol exit = Symbol::intern("__exit__");
inline const Symbol hash = Symbol::intern("__hash__");
inline const Symbol getattribute = Symbol::intern("__getattribute__");
inline const Symbol eq = Symbol::intern("__eq__");
inline const Symbol post_init = Symbol::intern("__post_init__");
inline const Symbol name = Symbol::intern("__name__");
inline const Symbol qualname = Symbol::intern("__qualname__");
inline const Symbol module = Symbol::intern("__module__");
inline const Symbol class_ = Symbol::intern("__class__");
inline const Symbol dict = Symbol::intern("__dict__");
inline const Symbol doc = Symbol::intern("__doc__");
inline const Symbol code = Symbol::intern("__code__");
inline const Symbol file = Symbol::intern("__file__");
inline const Symbol all = Symbol::intern("__all__");
inline const Symbol wrapped = Symbol::intern("__wrapped__");
inline const Symbol self_ = Symbol::intern("__self__");
inline const Symbol func = Symbol::intern("__func__");
inline const Symbol isinstance = Symbol::intern("isinstance");
inline const Symbol super = Symbol::intern("super");
inline const Symbol training = Symbol::intern("training");
inline const Symbol requires_grad = Symbol::intern("requires_grad");
inline const Symbol weight = Symbol::intern("weight");
inline const Symbol bias = Symbol::intern("bias");
inline const Symbol grad = Symbol::intern("grad");
inline const Symbol data = Symbol::intern("data");
inline const Symbol shape = Symbol::intern("shape");
inline const Symbol dtype = Symbol::intern("dtype");
inline const Symbol tb_lasti = Symbol::intern("tb_lasti");
inline const Symbol args = Symbol::intern("args");
inline const Symbol gradient_checkpointing_enable = Symbol::intern("gradient_checkpointing_enable");
inline const Symbol type_checking = Symbol::intern("TYPE_CHECKING");

}  // namespace fullgraph::trace::names
