/** Data-parallel training: averages the gradients of all ranks while the backward pass goes on. */
package org.sparkcollectives.ddp;
