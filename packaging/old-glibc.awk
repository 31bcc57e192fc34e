# Reads `readelf --dyn-syms -W libc.so.6 ld-linux-x86-64.so.2` and writes the assembly of a library to link with: it
# has the symbols of that C library as they were in glibc 2.MINOR (-v minor=31), each in the newest version of that
# time. A program that is linked with it runs on all systems from then on. With -v versions=1, writes the library's
# version script.
#
# Names of the same data (environ, __environ) stay names of the same data, weak if they are: the linker copies it to
# programs with all its names.
function number(version,    part) { # GLIBC_2.3.4: 304
    split(substr(version, 7), part, ".")
    return 100 * part[2] + part[3]
}

$1 == "File:" { file = $2 }

$4 ~ /^(FUNC|IFUNC|OBJECT|NOTYPE)$/ && $7 != "UND" && $8 ~ /@GLIBC_[0-9.]+$/ {
    split($8, field, /@+/)
    version = number(field[2])
    if (version < 100 * (minor + 1) && (!(field[1] in best) || version >= number(best[field[1]]))) {
        best[field[1]] = field[2]
        type[field[1]] = $4 == "OBJECT" ? "object" : "function"
        size[field[1]] = $3
        bind[field[1]] = $5 == "WEAK" ? ".weak" : ".globl"
        address[field[1]] = file ":" $2
    }
}

END {
    for (name in best) {
        symbols[best[name]] = symbols[best[name]] " " name ";"
        place[address[name]] = place[address[name]] " " name
        if (size[name] > bytes[address[name]])
            bytes[address[name]] = size[name]
    }
    if (versions) {
        for (version in symbols)
            print version " {" symbols[version] " };"
        exit
    }
    print ".bss"
    for (at in place) {
        print ".balign 32"
        count = split(place[at], names, " ")
        for (i = 1; i <= count; i++)
            print bind[names[i]] " " names[i] "\n.type " names[i] ", @" type[names[i]] "\n.size " names[i] ", " size[names[i]] "\n" names[i] ":"
        print ".skip " bytes[at] + 0
    }
}
