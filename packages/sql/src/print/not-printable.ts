import { PlanNotUnderstood } from '../plan/plan-reader.js';

/**
 * Thrown for a part of a plan that has no SQL text which is known to mean the same. The statement then runs on one node;
 * the message is a reason for people, in EXPLAIN.
 */
export class NotPrintable extends PlanNotUnderstood {}
