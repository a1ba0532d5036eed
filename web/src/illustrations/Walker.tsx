import { Face, Ground, Picture } from './Picture.tsx'

/** Level 3: the violet walker, which maps the room and follows its own plan to the flag. */
export function Walker() {
  return (
    <Picture width={240} height={190}>
      <path d="M14 180c40 6 60-10 92-4s60 6 112-8" stroke="var(--accent)" strokeDasharray="1 9" strokeWidth="4" />
      <path d="M218 168V124" />
      <path d="M218 124c8-6 10 4 18-2v18c-8 6-10-4-18 2z" fill="var(--pic-orange)" />
      <Ground x={104} y={174} rx={78} />
      <path d="m70 112-16 26 14 30m72-56 18 24-10 32" strokeWidth="13" />
      <path d="m70 112-16 26 14 30m72-56 18 24-10 32" stroke="var(--pic-dark)" strokeWidth="9" />
      <path d="m48 112-18 28 14 30m74-58 16 28-14 30" strokeWidth="16" />
      <path d="m48 112-18 28 14 30m74-58 16 28-14 30" stroke="var(--pic-violet)" strokeWidth="12" />
      <path d="m44 112-18 26m88-26 14 26" stroke="var(--pic-shine)" strokeWidth="3" />
      <path d="M34 174q0-9 10-9t12 9zm74 0q2-9 12-9t10 9z" fill="var(--pic-screen)" />
      <circle cx="30" cy="140" r="8" fill="var(--pic-white)" />
      <circle cx="134" cy="140" r="8" fill="var(--pic-white)" />
      <circle cx="30" cy="140" r="2" fill="var(--pic-line)" />
      <circle cx="134" cy="140" r="2" fill="var(--pic-line)" />
      <path d="M24 96q-14-6-16-26" strokeWidth="6" />
      <path d="M24 96q-14-6-16-26" stroke="var(--pic-violet)" strokeWidth="3" />
      <circle cx="8" cy="66" r="4.5" fill="var(--pic-orange)" />
      <rect x="20" y="78" width="130" height="46" rx="20" fill="var(--pic-violet)" />
      <path d="M20 104q0 20 20 20h90q20 0 20-20v-4q0 12-20 12H40q-20 0-20-12z" fill="var(--pic-shade)" stroke="none" />
      <path d="M40 86h44" stroke="var(--pic-shine)" strokeWidth="3" />
      <rect x="48" y="94" width="38" height="16" rx="4" fill="var(--pic-screen)" />
      <path d="m53 104 6-5 6 4 6-6 9 3" stroke="var(--pic-green)" />
      <circle cx="48" cy="112" r="10" fill="var(--pic-white)" />
      <circle cx="48" cy="112" r="4" fill="var(--pic-mid)" />
      <circle cx="118" cy="112" r="10" fill="var(--pic-white)" />
      <circle cx="118" cy="112" r="4" fill="var(--pic-mid)" />
      <path d="M56 78v-8h32v8z" fill="var(--pic-mid)" />
      <path d="M52 58q0-8 20-8t20 8v12H52z" fill="var(--pic-white)" />
      <path d="M52 62h40" strokeWidth="3" />
      <path d="M44 44a40 40 0 0 1 56 0M34 33a54 54 0 0 1 76 0" stroke="var(--accent)" opacity=".75" />
      <path d="m136 90 16-30 16 10-16 32z" fill="var(--pic-mid)" />
      <rect x="132" y="30" width="80" height="50" rx="17" fill="var(--pic-white)" />
      <path
        d="M132 60v3q0 17 17 17h46q17 0 17-17v-3q0 11-17 11h-46q-17 0-17-11z"
        fill="var(--pic-shade)"
        stroke="none"
      />
      <path d="m144 32-4-16 16 14m32 0 16-14-4 16" fill="var(--pic-violet)" />
      <Face x={142} y={38} width={62} height={34} />
    </Picture>
  )
}
