# Writes a C source with the number that stands for some sources and what compiles them: the first
# digits of a hash over their names and bytes. Run when one of them has changed, see CMakeLists.txt:
#   cmake -D NAME=cpu -D WORDS=… -D ROOT=… -D FILES=…;… -D OUT=FILE -P code_hash.cmake
set(lines "${WORDS}\n")
list(SORT FILES)
foreach(path ${FILES})
  file(SHA256 ${path} hash)
  file(RELATIVE_PATH name ${ROOT} ${path})
  string(APPEND lines "${name} ${hash}\n")
endforeach()
string(SHA256 all "${lines}")
string(SUBSTRING ${all} 0 8 digits)
file(WRITE ${OUT} "#include \"backend/backend.h\"\n\nconst char yk_code_${NAME}[] = \"${digits}\";\n")
