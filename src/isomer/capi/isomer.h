#ifndef ISOMER_CAPI_ISOMER_H
#define ISOMER_CAPI_ISOMER_H
/* Isomer for programs in C, and in languages that can call C: runs and optimizes ONNX models.
 * docs/reference/interfaces.md has examples.
 *
 * Every function that can fail returns a status; ISOMER_OK is 0. If `error` is not NULL, the function also writes a
 * message there, which is empty on success. Pointers and sizes are checked; a bad one returns ISOMER_BAD_ARGUMENT. The
 * caller must ensure what cannot be checked: a pointer points to as many bytes as stated, and a handle is not used
 * after its release.
 *
 * Handles share no state. Several threads may use different handles, or the same handle, at the same time; a release
 * must not overlap with another use. Texts are UTF-8 and end with a 0. */

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
  ISOMER_BAD_ARGUMENT = 1, /* the caller's mistake: NULL, or a wrong count, size, type or option */
  ISOMER_FAILED = 2,       /* the call failed: the file is not a model, the engine is missing, ... */
  ISOMER_TOO_SMALL = 3,    /* an output does not fit its buffer; the required sizes are stored */
  ISOMER_NO_MEMORY = 4,
  ISOMER_BUG = 5 /* a bug of Isomer; please report it */
};

/* Element types, with the numbers of ONNX. Types that are not listed have their ONNX numbers too, except texts (8),
 * which are not supported. Elements with fewer than 8 bits are packed, low bits first. */
enum {
  ISOMER_UNDEFINED = 0, /* not a tensor, or not known before a run */
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

/* The caller's buffer for the message of an error; a longer message is cut off. */
typedef struct isomer_error {
  char message[1024];
} isomer_error;

/* Element type and extents, outermost first. */
typedef struct isomer_type {
  int32_t dtype;
  int32_t rank;                     /* -1: not known before a run */
  int64_t extents[ISOMER_MAX_RANK]; /* only the first `rank` are used; -1: may differ from run to run */
} isomer_type;

/* An input or output of a model. `name` belongs to the model and is valid until its release. */
typedef struct isomer_value {
  const char* name;
  isomer_type type;
  int32_t has_default; /* 1: an input that a run may leave out */
} isomer_value;

/* An input of a run: dense elements in row-major order, aligned as an element is in C. If the struct is all zeros, the
 * input is left out and has the model's default. */
typedef struct isomer_input {
  isomer_type type; /* must have all extents */
  const void* data; /* may be NULL if bytes is 0 */
  size_t bytes;     /* must equal isomer_type_bytes of the type */
} isomer_input;

/* An output of a run. The caller sets `data` and `capacity`; the run sets `type` and `bytes`. */
typedef struct isomer_output {
  isomer_type type;
  void* data;      /* may be NULL if capacity is 0 */
  size_t capacity; /* size of data in bytes */
  size_t bytes;    /* size of the output in bytes */
} isomer_output;

/* A model loaded on an engine. */
typedef struct isomer_model isomer_model;

/* Returns the version of the library, such as "0.1.0"; the text is static. */
ISOMER_API const char* isomer_version(void);

/* Stores the size in bytes of a tensor of this type, which must have all extents. */
ISOMER_API int isomer_type_bytes(const isomer_type* type, size_t* bytes, isomer_error* error);

/* Loads the ONNX file `path` on an engine: "onednn" (the built-in runtime, also used if `engine` is NULL), "reference"
 * (exact but slow), "ort" or "openvino" (in a separate Python process). `options` is NULL or a JSON object such as
 * {"threads": 2}; docs/reference/options.md lists its keys: threads (of one run; "reference" always uses one), streams,
 * provider, dtype and python. The file must exist until the model is released. Release *model by isomer_release; it is
 * NULL on failure. */
ISOMER_API int isomer_load(const char* path, const char* engine, const char* options, isomer_model** model,
                           isomer_error* error);

/* Releases a model; NULL is allowed. No run of the model may be in progress. */
ISOMER_API void isomer_release(isomer_model* model);

/* Store the number of inputs or outputs of the model. */
ISOMER_API int isomer_input_count(const isomer_model* model, size_t* count, isomer_error* error);
ISOMER_API int isomer_output_count(const isomer_model* model, size_t* count, isomer_error* error);

/* Store the input or output at `index`, in the model's order. */
ISOMER_API int isomer_get_input(const isomer_model* model, size_t index, isomer_value* value, isomer_error* error);
ISOMER_API int isomer_get_output(const isomer_model* model, size_t index, isomer_value* value, isomer_error* error);

/* Runs the model once and copies its outputs to the caller's buffers. Inputs and outputs are in the model's order;
 * inputs with a default may be left out (see isomer_input). Inputs are read in place. Buffers are written at the end of
 * the run. The first run with new input types compiles the model for them, which can take seconds on "onednn"; later
 * runs reuse the result. Any number of threads may run one model at the same time; on "ort" their runs take turns. On
 * ISOMER_TOO_SMALL, `type` and `bytes` of every output are set, and the outputs that fit are written. On any other
 * failure nothing is written. */
ISOMER_API int isomer_run(isomer_model* model, const isomer_input* inputs, size_t num_inputs, isomer_output* outputs,
                          size_t num_outputs, isomer_error* error);

/* Searches for an equivalent model that is faster, and writes it to `output`. Without a significant gain, the output is
 * the input. `options` is NULL or a JSON object; docs/reference/options.md lists its keys. `output` may be NULL with
 * {"dry_run": true}. If `report` is not NULL, *report becomes the report that `isomer optimize --json` prints; release
 * it by isomer_free_text. It is NULL on failure. The call takes the time budget of the options and some seconds more.
 */
ISOMER_API int isomer_optimize(const char* input, const char* output, const char* options, char** report,
                               isomer_error* error);

/* Releases a text that a function of this header returned; NULL is allowed. */
ISOMER_API void isomer_free_text(char* text);

#ifdef __cplusplus
}
#endif
#endif
