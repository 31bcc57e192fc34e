# A program with the table of functions of a Go program (lib/go-table.h), in the form of version VERSION: 16, 18, 20,
# 26, whose header does not say where the code begins, or 27, whose description of the program is longer. With SECTION,
# the table lies in that section. It has no symbols of its
# functions. With an argument count above one it runs for about a second. Its source would be:
#
#     /src/main.go       5  func main() {
#                        7      work(); systemstack(inner)
#                        60 func inner() { ... }
#                        70 func runtime.systemstack(f func())   calls f on another stack, as Go's runtime
#                                                                does for its own work
#     /src/lib/work.go   20 func (*worker) work() {
#                        22     spin()                inlined
#     /src/lib/spin.go   40 func spin() {
#                        41     step()                inlined
#                        50 func step() {
#                        51     ...

#if VERSION == 16
#define ADDRESS .quad
#define RELATIVE(label) label
#define MAGIC 0xfffffffa
#define GOFUNC 0
#elif VERSION == 18
#define ADDRESS .long
#define RELATIVE(label) label - text
#define MAGIC 0xfffffff0
#define GOFUNC 38
#else
#define ADDRESS .long
#define RELATIVE(label) label - text
#define MAGIC 0xfffffff1
#if VERSION < 27
#define GOFUNC 40
#else
#define GOFUNC 43
#endif
#endif
#ifndef SECTION
#define SECTION .gopclntab
#endif

        .text
        .globl  _start
text:
_start:
main:
        mov     (%rsp), %rcx
        dec     %rcx
        mov     $1, %rbx
        shl     $9, %rcx
        add     %rcx, %rbx
main_call:
        call    work
        call    switch
        dec     %rbx
        jnz     main_call
main_end:
        mov     $60, %eax
        xor     %edi, %edi
        syscall
        .balign 16, 0xcc
work:
        push    %rbp
        mov     %rsp, %rbp
work_call:
        nop
work_spin:
        mov     $1000000, %eax
work_step:
        dec     %eax
        nop
work_step_end:
        jnz     work_step
work_after:
        pop     %rbp
        ret
        .balign 16, 0xcc
inner:
        mov     $1000000, %eax
inner_loop:
        dec     %eax
        jnz     inner_loop
        ret
        .balign 16, 0xcc
switch:
        mov     %rsp, other_stack
        lea     main_call + 5, %rax     # a return address that an earlier call has left
        lea     other_stack_end - 8, %rsp
        mov     %rax, (%rsp)
        call    inner
        mov     other_stack, %rsp
        ret
        .balign 16, 0xcc
end:
        .size   main, work - main
        .size   work, inner - work
        .size   inner, switch - inner
        .size   switch, end - switch
        .lcomm  other_stack, 4096
other_stack_end = other_stack + 4096

        .section .go.buildinfo, "a"
        .quad   0
        .section SECTION, "a"
        .balign 32
table:
        .long   MAGIC
        .byte   0, 0, 1, 8
        .quad   4
        .quad   3
#if VERSION == 18 || VERSION == 20
        .quad   text
#elif VERSION >= 26
        .quad   0
#endif
        .quad   names - table, units - table, files - table, values - table, functions - table
names:
        .byte   0
name_main:
        .asciz  "main.main"
name_work:
        .asciz  "example.com/lib.(*worker).work"
name_spin:
        .asciz  "example.com/lib.spin"
name_step:
        .asciz  "example.com/lib.step"
name_inner:
        .asciz  "main.inner"
name_switch:
        .asciz  "runtime.systemstack"
units:
        .long   file_main - files
        .long   file_work - files, file_spin - files
files:
file_main:
        .asciz  "/src/main.go"
file_work:
        .asciz  "/src/lib/work.go"
file_spin:
        .asciz  "/src/lib/spin.go"

# A value: its difference to the one before (at first -1), zigzag-coded, and the bytes for which it holds.
        .macro  up by, from, to
        .uleb128 2 * \by, \to - \from
        .endm
        .macro  down by, from, to
        .uleb128 2 * \by - 1, \to - \from
        .endm
values:
        .byte   0
main_depths:
        up      1, main, work
        .byte   0
work_depths:
        up      1, work, work + 1
        up      8, work + 1, work_after + 1
        down    8, work_after + 1, work_after + 2
        .byte   0
inner_depths:
inner_files:
        up      1, inner, switch
        .byte   0
inner_lines:
        up      61, inner, switch
        .byte   0
switch_depths:
switch_files:
        up      1, switch, end
        .byte   0
switch_lines:
        up      71, switch, end
        .byte   0
main_files:
        up      1, main, work
        .byte   0
main_lines:
        up      6, main, main_call
        up      2, main_call, main_end
        up      1, main_end, work
        .byte   0
work_files:
        up      1, work, work_spin
        up      1, work_spin, work_after
        down    1, work_after, inner
        .byte   0
work_lines:
        up      21, work, work_call
        up      2, work_call, work_spin
        up      19, work_spin, work_step
        up      10, work_step, work_step_end
        down    10, work_step_end, work_after
        down    18, work_after, inner
        .byte   0
work_calls:
        .uleb128 0, work_spin - work
        up      1, work_spin, work_step
        up      1, work_step, work_step_end
        down    1, work_step_end, work_after
        down    1, work_after, inner
        .byte   0

        .macro  function at, flags, line, calls
        .balign 8
description_\at:
        ADDRESS RELATIVE(\at)
        .long   name_\at - names
        .long   0, 0
        .long   \at\()_depths - values, \at\()_files - values, \at\()_lines - values
        .long   3                       # tables of values: the third is that of inlined calls
        .long   (unit_\at - units) / 4
#if VERSION >= 20
        .long   \line
#endif
        .byte   0, \flags, 0
        .byte   4                       # other tables: the fourth is that of inlined calls
        .long   0, 0, \calls
#if VERSION == 16
        .balign 8
        .quad   0, 0, 0
#else
        .long   0xffffffff, 0xffffffff, 0xffffffff
#endif
        .endm
        .macro  no_inlined_calls
#if VERSION == 16
        .quad   0
#else
        .long   0xffffffff
#endif
        .endm

unit_main = units
unit_work = units + 4
unit_inner = units
unit_switch = units
        .balign 8
functions:
        ADDRESS RELATIVE(main), description_main - functions
        ADDRESS RELATIVE(work), description_work - functions
        ADDRESS RELATIVE(inner), description_inner - functions
        ADDRESS RELATIVE(switch), description_switch - functions
        ADDRESS RELATIVE(end)
        function main, 1, 5, 0          # the outermost one
        no_inlined_calls
        function work, 0, 20, work_calls-values
#if VERSION == 16
        .quad   calls
#else
        .long   calls - data
#endif
        function inner, 0, 60, 0
        no_inlined_calls
        function switch, 2, 70, 0       # changes the stack
        no_inlined_calls

        .section .rodata, "a"
        .balign 8
data:
        .quad   0
calls:
#if VERSION < 20
        .short  -1
        .byte   0, 0
        .long   0, 22, name_spin - names, work_call - work
        .short  0
        .byte   0, 0
        .long   1, 41, name_step - names, work_step - work
#else
        .byte   0, 0, 0, 0
        .long   name_spin - names, work_call - work, 40
        .byte   0, 0, 0, 0
        .long   name_step - names, work_spin - work, 50
#endif

        .data
        .balign 8
        .quad   table                   # not the runtime's description of the program
#if VERSION != 16
        .quad   table, names
        .fill   20, 8, 0
        .quad   text
        .fill   GOFUNC - 24, 8, 0
        .quad   functions               # with other addresses, calls are damaged
        .quad   data
#endif
