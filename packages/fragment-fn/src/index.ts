export {
  type FragmentLimits,
  type FragmentRequest,
  type FragmentStatistics,
  type FragmentTable,
  fragmentProtocolVersion,
} from './request.js';
