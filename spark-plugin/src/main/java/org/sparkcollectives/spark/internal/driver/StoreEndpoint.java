package org.sparkcollectives.spark.internal.driver;

import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import scala.Function1;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * The driver's store as an endpoint of Spark's RPC. A reply is sent when there is one; nothing
 * blocks.
 */
final class StoreEndpoint implements ThreadSafeRpcEndpoint {

  private final RpcEnv rpcEnv;
  private final DriverStore store;

  StoreEndpoint(RpcEnv rpcEnv, DriverStore store) {
    this.rpcEnv = rpcEnv;
    this.store = store;
  }

  @Override
  public RpcEnv rpcEnv() {
    return rpcEnv;
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
    return new AbstractPartialFunction<>() {
      @Override
      public boolean isDefinedAt(Object message) {
        return message instanceof byte[];
      }

      @Override
      public <A, B> B applyOrElse(A message, Function1<A, B> otherwise) {
        if (!(message instanceof byte[] bytes)) {
          return otherwise.apply(message);
        }
        store.receive(context.senderAddress(), bytes, context::reply);
        @SuppressWarnings("unchecked") // B is BoxedUnit.
        B nothing = (B) BoxedUnit.UNIT;
        return nothing;
      }
    };
  }

  @Override
  public void onDisconnected(RpcAddress address) {
    store.clients().disconnected(address);
  }
}
