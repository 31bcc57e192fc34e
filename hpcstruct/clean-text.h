/* Text from a binary made fit for an XML document. */
#ifndef HPCSTRUCT_CLEAN_TEXT_H
#define HPCSTRUCT_CLEAN_TEXT_H

/* The text with everything replaced (by U+FFFD) that is not valid UTF-8 or is a control character.
 * Takes `text`, which malloc gave, and returns it or another one; the caller frees. */
char *clean_text(char *text);

#endif
