# Writes a C source with the bytes of files as texts, time_chart.js as `const char PREFIX_lanes_js[]`. Run when
# one of them has changed, see CMakeLists.txt:
#   cmake -D PREFIX=yk_web -D HEADER=report/web_files.h -D FILES=…;… -D OUT=FILE -P embed.cmake
set(source "#include \"${HEADER}\"\n")
foreach(path ${FILES})
  get_filename_component(name ${path} NAME)
  string(MAKE_C_IDENTIFIER "${PREFIX}_${name}" name)
  file(READ ${path} bytes HEX)
  string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${bytes}")
  string(REPLACE "\\x0a" "\\x0a\"\n    \"" bytes "${bytes}")
  string(APPEND source "\nconst char ${name}[] =\n    \"${bytes}\";\n")
endforeach()
file(WRITE ${OUT} "${source}")
