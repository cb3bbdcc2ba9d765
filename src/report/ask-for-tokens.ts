/** What would decide a figure whose tokens are not known. */
export const askForTokens = 'include_usage: true in the step requests the counts of tokens'
