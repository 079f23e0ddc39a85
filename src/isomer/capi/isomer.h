#ifndef ISOMER_CAPI_ISOMER_H
#define ISOMER_CAPI_ISOMER_H
/* Isomer for programs in C and whatever calls C: runs ONNX models, and optimizes them. docs/reference/interfaces.md has
 * examples.
 *
 * Every function that can fail returns a status (ISOMER_OK is 0) and, where `error` is not NULL, writes what went wrong
 * there: a text that is empty on success. Pointers and sizes are checked; a bad one gives ISOMER_BAD_ARGUMENT. What
 * cannot be checked must hold: pointers point to as much as is said, handles are not used once released.
 *
 * Handles share no state. Different handles may be used by different threads at the same time, and so may one handle,
 * but for its release. Texts are UTF-8 and end with a 0. */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ISOMER_API __attribute__((visibility("default")))
#else
#define ISOMER_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Statuses. */
enum {
  ISOMER_OK = 0,
  ISOMER_BAD_ARGUMENT = 1, /* the caller's mistake: NULL, a wrong count, size, type or option */
  ISOMER_FAILED = 2,       /* it could not be done: a file that is no model, an engine that is not there, ... */
  ISOMER_TOO_SMALL = 3,    /* an output does not fit its buffer; the sizes that are needed have been stored */
  ISOMER_NO_MEMORY = 4,
  ISOMER_BUG = 5 /* Isomer's own mistake; please report it */
};

/* Element types, numbered as in ONNX. Those that are not listed pass under their ONNX numbers, but for texts (8).
 * Elements of less than 8 bits are packed, low bits first. */
enum {
  ISOMER_UNDEFINED = 0, /* no tensor, or not known before a run */
  ISOMER_FLOAT = 1,
  ISOMER_UINT8 = 2,
  ISOMER_INT8 = 3,
  ISOMER_UINT16 = 4,
  ISOMER_INT16 = 5,
  ISOMER_INT32 = 6,
  ISOMER_INT64 = 7,
  ISOMER_BOOL = 9, /* a byte, 0 or 1 */
  ISOMER_HALF = 10,
  ISOMER_DOUBLE = 11,
  ISOMER_UINT32 = 12,
  ISOMER_UINT64 = 13,
  ISOMER_BFLOAT16 = 16
};

#define ISOMER_MAX_RANK 16

/* The caller's room for an error's text; a longer one is cut off. */
typedef struct isomer_error {
  char message[1024];
} isomer_error;

/* Element type and extents, outermost first. */
typedef struct isomer_type {
  int32_t dtype;
  int32_t rank;                     /* -1: not known before a run */
  int64_t extents[ISOMER_MAX_RANK]; /* the first `rank` count; -1: may differ from run to run */
} isomer_type;

/* An input or output of a model. `name` belongs to the model and lives as long. */
typedef struct isomer_value {
  const char* name;
  isomer_type type;
  int32_t has_default; /* 1: an input that a run may leave out */
} isomer_value;

/* An input of a run: dense elements, the last axis fastest, aligned as an element is in C. One that is all zeros leaves
 * the input out, so that it has the model's default. */
typedef struct isomer_input {
  isomer_type type; /* all extents given */
  const void* data; /* may be NULL where bytes is 0 */
  size_t bytes;     /* exactly isomer_type_bytes of the type */
} isomer_input;

/* An output of a run. The caller sets `data` and `capacity`; the run sets `type` and `bytes`. */
typedef struct isomer_output {
  isomer_type type;
  void* data;      /* may be NULL where capacity is 0 */
  size_t capacity; /* bytes that fit into data */
  size_t bytes;    /* bytes that the output takes */
} isomer_output;

/* A model loaded on an engine. */
typedef struct isomer_model isomer_model;

/* The version of the library, such as "0.1.0"; static. */
ISOMER_API const char* isomer_version(void);

/* Bytes that a tensor of this type takes; all of its extents must be given. */
ISOMER_API int isomer_type_bytes(const isomer_type* type, size_t* bytes, isomer_error* error);

/* Loads the ONNX file `path` on an engine: "onednn" (the built-in runtime; also for NULL), "reference" (slow, and
 * right), "ort" or "openvino" (in a separate Python process; the environment's ISOMER_PYTHON may name the Python).
 * `threads`, 1 to 1024, is how many work on one run; "reference" takes one alone. The file must stay until the model is
 * released. *model is for isomer_release; NULL on failure. */
ISOMER_API int isomer_load(const char* path, const char* engine, int threads, isomer_model** model,
                           isomer_error* error);

/* Releases a model; NULL is fine. No run of it may be going on. */
ISOMER_API void isomer_release(isomer_model* model);

/* How many inputs and outputs the model has. */
ISOMER_API int isomer_input_count(const isomer_model* model, size_t* count, isomer_error* error);
ISOMER_API int isomer_output_count(const isomer_model* model, size_t* count, isomer_error* error);

/* The input or output at `index`, in the model's order. */
ISOMER_API int isomer_get_input(const isomer_model* model, size_t index, isomer_value* value, isomer_error* error);
ISOMER_API int isomer_get_output(const isomer_model* model, size_t index, isomer_value* value, isomer_error* error);

/* Runs the model once on all inputs, in its order (those with a default may be left out, see isomer_input), and copies
 * its outputs, in its order, to the caller's buffers. The inputs are read in place, the buffers written when the run is
 * over. A run with input types that are new to the model compiles it for them first, on "onednn" for as long as
 * seconds; later ones find that again. Any number of threads may run one model at a time ("ort" lets them wait for one
 * another). On ISOMER_TOO_SMALL `type` and `bytes` of every output are set, and the outputs that fit are written; on
 * any other failure nothing is. */
ISOMER_API int isomer_run(isomer_model* model, const isomer_input* inputs, size_t num_inputs, isomer_output* outputs,
                          size_t num_outputs, isomer_error* error);

/* Searches for an equivalent model that is faster, and writes it to `output`; without a significant gain, that is the
 * input. `options` is NULL or a JSON object; docs/reference/options.md lists its keys. `output` may be NULL with
 * {"dry_run": true}. Where `report` is not NULL, *report becomes the report that `isomer optimize --json` prints, for
 * isomer_free_text; NULL on failure. Takes as long as the time budget of the options, and some seconds more. */
ISOMER_API int isomer_optimize(const char* input, const char* output, const char* options, char** report,
                               isomer_error* error);

/* Releases a text that a function here gave; NULL is fine. */
ISOMER_API void isomer_free_text(char* text);

#ifdef __cplusplus
}
#endif
#endif
