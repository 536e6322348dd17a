// Objects of PETSc and SLEPc as values that are destroyed in time, and their error codes as exceptions. Included by
// slepc_*.cpp only.
#pragma once

#include <slepceps.h>

#include <utility>

#if defined(PETSC_USE_COMPLEX) || !defined(PETSC_USE_REAL_DOUBLE)
#error "graphpae needs PETSc with real scalars in double precision"
#endif

namespace graphpae {

// Throws if `code` is one: a memory error, or a numerical one with PETSc's message.
void slepc_call(PetscErrorCode code);

template <class T, PetscErrorCode (*Destroy)(T*)>
class SlepcHandle {
 public:
  SlepcHandle() = default;
  ~SlepcHandle() { Destroy(&object_); }
  SlepcHandle(SlepcHandle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  SlepcHandle& operator=(SlepcHandle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }

  operator T() const { return object_; }
  T* fill() { return &object_; }  // for functions that make the object

 private:
  T object_ = nullptr;
};

using MatHandle = SlepcHandle<Mat, MatDestroy>;
using VecHandle = SlepcHandle<Vec, VecDestroy>;
using EpsHandle = SlepcHandle<EPS, EPSDestroy>;

}  // namespace graphpae
