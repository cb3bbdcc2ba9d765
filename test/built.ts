import { bundleIfOld } from '../bundle.ts'

/** Before the tests: the command that they start is built, as a user has it. It starts in two thirds of the time. */
export default bundleIfOld
