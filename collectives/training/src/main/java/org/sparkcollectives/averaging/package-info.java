/** Averages the parameters of models that each rank trains on its own for a while. */
package org.sparkcollectives.averaging;
