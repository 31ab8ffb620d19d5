# SPDX-License-Identifier: Apache-2.0
# What the other files share. Nothing here is for projects.
include_guard(DIRECTORY)

# Folder for what the functions write: one of the build, of this directory.
function(_devimg_folder _out)
  set(_folder "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/devimg")
  file(MAKE_DIRECTORY "${_folder}")
  set(${_out} "${_folder}" PARENT_SCOPE)
endfunction()

# Words that no keyword took are a mistake, and so is a keyword without its value, but for those of lists (ARGN), which may be empty.
function(_devimg_refuse_words _function _unparsed _missing)
  if(_unparsed)
    message(FATAL_ERROR "${_function}: not understood: ${_unparsed}")
  endif()
  foreach(_keyword IN LISTS _missing)
    if(NOT _keyword IN_LIST ARGN)
      message(FATAL_ERROR "${_function}: ${_keyword} has no value")
    endif()
  endforeach()
endfunction()

# "COMPRESSION_LEVEL" as the option "--compression-level".
function(_devimg_option _out _keyword)
  string(TOLOWER "${_keyword}" _name)
  string(REPLACE "_" "-" _name "${_name}")
  set(${_out} "--${_name}" PARENT_SCOPE)
endfunction()

# Is the program that the cache variable names gone? One that was found here is looked for anew; one that somebody named is not
# replaced by another: `_why` says so then, and is empty else.
function(_devimg_forget_program _variable _why)
  set(${_why} "" PARENT_SCOPE)
  if(NOT ${_variable} OR EXISTS "${${_variable}}")
    return()
  endif()
  if("${${_variable}}" STREQUAL "${${_variable}_FOUND}")
    unset(${_variable} CACHE)
  else()
    set(${_why} "${_variable} is ${${_variable}}, which is not there" PARENT_SCOPE)
  endif()
endfunction()

# Behind find_program(), which ran since nobody had named one.
function(_devimg_remember_program _variable)
  if(${_variable})
    set(${_variable}_FOUND "${${_variable}}" CACHE INTERNAL "found by devimg's package")
  endif()
endfunction()
