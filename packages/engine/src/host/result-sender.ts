import { QueryError } from '@svc/base';
import { cancelled } from './cancelled.js';
import type { HostContext } from './host-context.js';
import type { HostCursor, HostMessage } from './instance-interface.js';
import type { MessageHead } from './protocol.js';

/**
 * Up to this size, and for the first messages of a result only, a body travels inside the frame: a small answer
 * then costs no credit. Later ones always keep their slot, which is what bounds an unread result.
 */
const INLINE_BYTES = 16 << 10;
const INLINE_MESSAGES = 2;

/** Sends schema and messages of a result, waiting for free slots. Throws CANCELLED when the parent says stop. */
export function sendResult(context: HostContext, id: number, cursor: HostCursor): void {
  const { channel, slots, state } = context;
  slots.beginResult();
  const schema = { type: 'schema', id } as const;
  if (cursor.hasFirstRows) channel.writeLater(schema, cursor.schema);
  else channel.write(schema, cursor.schema);
  for (let index = 0; ; index++) {
    const slot = waitForSlot(context, id);
    let isSlotSent = false;
    try {
      if (state.isCancelled(id)) throw cancelled();
      const message = cursor.next(slots.bytesOf(slot));
      if (!message) return;
      if (index < INLINE_MESSAGES && message.body.length <= INLINE_BYTES) {
        sendInline(context, id, message);
        if (message.isLast) return;
      } else {
        const head = headOf(context, message);
        isSlotSent = true;
        sendInSlots(context, { id, message, head, firstSlot: slot });
      }
    } finally {
      if (!isSlotSent) slots.release(slot);
    }
  }
}

function sendInline(context: HostContext, id: number, message: HostMessage): void {
  const { header, body } = message;
  const head = {
    ...({ type: 'piece', id } as const),
    message: headOf(context, message),
    ...{ headerBytes: header.length, byteLength: body.length },
  };
  const bytes = Buffer.concat([header, body]);
  // The end of the request comes at once.
  if (message.isLast) context.channel.writeLater(head, bytes);
  else context.channel.write(head, bytes);
}

interface SlotMessage {
  readonly id: number;
  readonly message: HostMessage;
  readonly head: MessageHead;
  readonly firstSlot: number;
}

/** A body that the cursor laid out in the slot stays there; a larger one goes through slots piece by piece. */
function sendInSlots(context: HostContext, { id, message, head, firstSlot }: SlotMessage): void {
  const { channel, slots } = context;
  const { header, body, isInRegion } = message;
  const base = { type: 'piece', id } as const;
  const first = { message: head, headerBytes: header.length };
  if (isInRegion) {
    channel.write({ ...base, ...first, slot: firstSlot, byteLength: body.length }, header);
    return;
  }
  for (let offset = 0; offset < body.length; offset += slots.layout.slotBytes) {
    const piece = body.subarray(offset, offset + slots.layout.slotBytes);
    const slot = offset === 0 ? firstSlot : waitForSlot(context, id);
    slots.bytesOf(slot).set(piece);
    const place = { slot, byteLength: piece.length };
    if (offset === 0) channel.write({ ...base, ...first, ...place }, header);
    else channel.write({ ...base, headerBytes: 0, ...place });
  }
}

function headOf(context: HostContext, { kind, rowCount, body }: HostMessage): MessageHead {
  const { maxBodyBytes } = context.slots.layout;
  if (body.length > maxBodyBytes)
    throw new QueryError(
      'RESULT_TOO_LARGE',
      `One row of the result takes ${body.length} bytes; a message holds at most ${maxBodyBytes} bytes.`,
    );
  return { kind, rowCount, bodyBytes: body.length };
}

function waitForSlot(context: HostContext, id: number): number {
  for (;;) {
    const slot = context.slots.tryAcquire();
    if (slot !== undefined) return slot;
    const frame = context.channel.read();
    if (!frame) throw cancelled();
    const { head } = frame;
    if (head.op === 'credit') context.slots.release(head.slot);
    else if (head.op === 'stop' && head.id === id) throw cancelled();
  }
}
