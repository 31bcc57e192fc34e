# A process tree for the tour: four programs are compiled, and each is run.
all: p1 p2 p3 p4

p%:
	@printf 'int main(void) { volatile long n = 0; for (long i = 0; i < 20000000 * $*L; i++) n += i; }\n' >$@.c
	gcc -O2 $@.c -o $@ && ./$@
