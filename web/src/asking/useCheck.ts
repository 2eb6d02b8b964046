import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

import { checkSql } from '../api.ts'
import type { Check, Parameters } from '../types.ts'

const STILL_MS = 700

/** What the server says of a text that is not typed at right now; undefined until it has. */
export function useCheck(sql: string, parameters: Parameters | null): Check | undefined {
  const wanted = JSON.stringify(parameters === null ? null : [sql, parameters])
  const [still, setStill] = useState<string>('null')
  useEffect(() => {
    const soon = setTimeout(() => setStill(wanted), STILL_MS)
    return () => clearTimeout(soon)
  }, [wanted])
  const asked = JSON.parse(still) as [string, Parameters] | null
  const { data } = useQuery({
    queryKey: ['check', still],
    queryFn: ({ signal }) => checkSql(asked![0], asked![1], signal),
    enabled: asked !== null && asked[0].trim() !== '' && still === wanted,
    gcTime: 60_000,
    retry: false,
  })
  return still === wanted ? data : undefined
}
