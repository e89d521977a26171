/**
 * What of this package has nothing to do with gRPC. An entry of its own, because loading gRPC and its messages takes a
 * fifth of the time in which an embedded session answers its first statement.
 */
export { encapsulateHeader, joinIpcStream, splitIpcStream } from './arrow/ipc-message.js';
export { compileLikePattern } from './sql/like-pattern.js';
