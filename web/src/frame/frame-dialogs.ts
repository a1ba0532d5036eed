/** What the frame shows to few visitors, in one file that comes when it is needed. */
export { Alert } from '../ui/Alert.tsx'
export { OtherAccount } from './OtherAccount.tsx'
