/** Codecs that turn objects into bytes; Kryo is the default. */
package org.sparkcollectives.object;
