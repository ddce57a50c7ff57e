/** Dumps of flight recorders: their folders, their formats, and the tools that compare them. */
package org.sparkcollectives.recorder;
