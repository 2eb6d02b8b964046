// What can be asked about, as the server last told it.

import { keepPreviousData, useQuery } from '@tanstack/react-query'

import { fetchDatabase } from './api.ts'
import { useLive } from './live.ts'
import type { Database } from './types.ts'

/** Asked again whenever the server has been away: it may have come back with another database. */
export function useDatabase(): Database | undefined {
  const { since } = useLive().server
  return useQuery({
    queryKey: ['database', since],
    queryFn: fetchDatabase,
    placeholderData: keepPreviousData,
  }).data
}
