/* Tilewright's C API: load a compiled model (.tw) and run it on this CPU. Link
 * with libtilewright.so.
 *
 *   tw_model* model = tw_model_load("model.tw", 2);
 *   if (!model) { fprintf(stderr, "%s\n", tw_last_error()); return 1; }
 *   tw_session* session = tw_session_create(model);
 *   if (!session || tw_session_run(session, inputs, outputs) != 0) ...
 *   tw_session_free(session);
 *   tw_model_free(model);
 *
 * Loading a .tw runs its code: load only files you would also execute. A model
 * may be shared by threads; a session is used by one thread at a time. Tensors
 * are dense and row-major. */
#ifndef TILEWRIGHT_H_
#define TILEWRIGHT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_model tw_model;
typedef struct tw_session tw_session;

typedef enum tw_type {
  TW_BOOL = 1,
  TW_INT8,
  TW_INT16,
  TW_INT32,
  TW_INT64,
  TW_UINT8,
  TW_UINT16,
  TW_UINT32,
  TW_UINT64,
  TW_FLOAT16,
  TW_BFLOAT16,
  TW_FLOAT32,
  TW_FLOAT64
} tw_type;

/* One input or output. Pointers live as long as the model. */
typedef struct tw_tensor_info {
  const char* name;
  tw_type type;
  int rank;
  const int64_t* shape;
  size_t size_bytes;
} tw_tensor_info;

/* How a model is run. All zero: as by default. */
typedef struct tw_options {
  int threads; /* 0 for as many as the process may use */
  /* Not 0: denormal numbers may count as zeros, which is faster where there are
   * many. The calling thread's own mode is not changed. */
  int flush_denormals;
} tw_options;

/* NULL on error. threads: as in tw_options. options: NULL for the defaults. */
tw_model* tw_model_load(const char* path, int threads);
tw_model* tw_model_load_with(const char* path, const tw_options* options);
/* The model may be freed while sessions of it live; they keep what they need.
 */
void tw_model_free(tw_model* model);
int tw_model_num_inputs(const tw_model* model);
int tw_model_num_outputs(const tw_model* model);
/* 0, or -1 if `index` is out of range. */
int tw_model_input(const tw_model* model, int index, tw_tensor_info* info);
int tw_model_output(const tw_model* model, int index, tw_tensor_info* info);

/* NULL on error. */
tw_session* tw_session_create(const tw_model* model);
void tw_session_free(tw_session* session);
/* One pointer per input and per output, in the model's order. 0, or -1 on
 * error. */
int tw_session_run(tw_session* session, const void* const* inputs,
                   void* const* outputs);

/* What went wrong in the last failing call on this thread: one line, never
 * NULL. */
const char* tw_last_error(void);

#ifdef __cplusplus
}
#endif

#endif /* TILEWRIGHT_H_ */
