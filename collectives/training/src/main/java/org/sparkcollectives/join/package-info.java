/** Training on uneven inputs: ranks that have run out of rows take part in the others' steps. */
package org.sparkcollectives.join;
