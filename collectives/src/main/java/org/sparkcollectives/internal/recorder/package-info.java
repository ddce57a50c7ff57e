/** The ring of records that each rank writes while it runs. */
package org.sparkcollectives.internal.recorder;
