package doctor

// ListOnly are ids that the command list and errors use; the doctor says the
// same with an id that tells the causes apart.
var ListOnly = []string{"RP-DEV-002", "RP-CM-001"}

// Rules has a line for each id. Ids are stable: they may be added, never
// changed. docs/findings.md explains each.
var Rules = []Rule{
	{"RP-KRN-001", Warning, 0, "the kernel is older than 5.10"},
	{"RP-ABI-001", Warning, 0, "the verbs interface has another version than 6"},
	{"RP-ABI-002", Warning, 0, "the connection manager's interface has another version than 4"},
	{"RP-ABI-003", Error, exitFailed, "the driver's interface has a version that this build does not speak"},
	{"RP-ABI-004", Warning, 0, "the verbs device takes no ioctl, which looks like a sandbox"},
	{"RP-ABI-005", Warning, 0, "the verbs device takes no write(), which looks like a sandbox"},

	{"RP-MOD-001", Error, exitNoDevice, "module ib_core is not in the kernel"},
	{"RP-MOD-002", Error, exitNoDevice, "module ib_uverbs is not in the kernel"},
	{"RP-MOD-003", Error, exitNoDevice, "module rdma_ucm is not in the kernel"},
	{"RP-MOD-004", Note, 0, "module rdma_rxe, for soft-RoCE, is not in the kernel, and there is no other device"},
	{"RP-SYS-001", Error, exitFailed, "devices cannot be listed"},
	{"RP-NET-001", Warning, 0, "RDMA netlink is blocked"},
	{"RP-DEV-001", Error, exitNoDevice, "there is no RDMA device"},
	{"RP-DEV-002", Error, exitNoDevice, "a device cannot be used"},
	{"RP-DEV-003", Error, exitFailed, "a device opens, but gives no verbs context"},
	{"RP-DEV-004", Warning, 0, "something about a device could not be found out"},
	{"RP-CM-001", Error, exitNoDevice, "the connection manager's device cannot be used"},
	{"RP-CM-002", Error, exitFailed, "a device's connection manager has stopped"},

	{"RP-CHR-001", Error, exitNoDevice, "a device node is missing"},
	{"RP-CHR-002", Error, exitNoDevice, "a device node has the numbers of another device"},
	{"RP-CHR-003", Error, exitPermission, "owner and mode of a device node deny access"},
	{"RP-CHR-004", Error, exitPermission, "the device cgroup denies access to a device node"},
	{"RP-CHR-005", Error, exitPermission, "a mount option or a security module denies access to a device node"},
	{"RP-CHR-006", Error, exitNoDevice, "the device behind a node is gone"},
	{"RP-CHR-007", Warning, 0, "a stale device node: no RDMA device has its numbers"},
	{"RP-CHR-008", Error, exitFailed, "a device node cannot be opened"},

	{"RP-NNS-001", Error, exitNoDevice, "exclusive mode, and the devices belong to other network namespaces"},
	{"RP-NNS-002", Note, 0, "exclusive mode: each device is in one network namespace"},
	{"RP-NNS-003", Error, exitFailed, "soft-RoCE does not listen in this network namespace"},
	{"RP-NNS-004", Note, 0, "devices are seen that evidently are other containers'"},

	{"RP-SYS-002", Note, 0, "sysfs cannot be read"},
	{"RP-SYS-003", Warning, 0, "sysfs does not show a device that netlink lists"},

	{"RP-MEM-001", Error, exitPermission, "no memory may be locked, so none can be registered"},
	{"RP-MEM-002", Error, exitPermission, "the limit on locked memory is too small for most uses"},
	{"RP-MEM-003", Warning, 0, "CAP_IPC_LOCK is effective in this user namespace only, where it does not count"},
	{"RP-MEM-004", Error, exitPermission, "the memory asked for does not fit the limit on locked memory"},
	{"RP-MEM-005", Error, exitFailed, "the memory asked for is more than one region of the device may have"},
	{"RP-MEM-006", Error, exitFailed, "the memory asked for is more than there is"},

	{"RP-CGR-001", Error, exitFailed, "the RDMA cgroup allows no more objects"},
	{"RP-CGR-002", Warning, 0, "the RDMA cgroup's limit is nearly reached"},

	{"RP-PRT-001", Error, exitFailed, "a port is down"},
	{"RP-PRT-002", Error, exitFailed, "a port waits for the subnet manager"},
	{"RP-PRT-003", Error, exitFailed, "RDMA packets are larger than the interface takes"},
	{"RP-PRT-004", Warning, 0, "RDMA packets are smaller than the interface allows"},
	{"RP-PRT-005", Error, exitFailed, "MTU mismatch: the other end of the interface takes smaller packets"},
	{"RP-PRT-006", Warning, 0, "the interface's bridge has a smaller MTU"},

	{"RP-GID-001", Error, exitFailed, "a port has no usable GID, because its interface has no IP address"},
	{"RP-GID-002", Error, exitFailed, "a port has a link-local GID only"},
	{"RP-GID-003", Note, 0, "a port has no IPv4 address"},
	{"RP-GID-004", Warning, 0, "the GID table cannot be read"},
	{"RP-GID-005", Warning, 0, "one address is the GID of several devices"},
	{"RP-GID-006", Warning, 0, "a GID is left of an address that the interface does not have"},
	{"RP-GID-007", Warning, 0, "the connection manager uses RoCE v1, although the port has v2"},
	{"RP-GID-008", Warning, 0, "the GID table is full"},

	{"RP-MAP-001", Error, exitFailed, "a port's interface is not in this network namespace"},
	{"RP-MAP-002", Warning, 0, "several RDMA interfaces are in one subnet"},
	{"RP-MAP-003", Note, 0, "a port's interface is not in this network namespace, but other devices work"},
	{"RP-MAP-004", Warning, 0, "a device is on the loopback interface"},

	{"RP-GUI-001", Warning, 0, "a device has no node GUID"},
	{"RP-GUI-002", Warning, 0, "several devices have the same node GUID"},
	{"RP-FRK-001", Note, 0, "fork may disturb registered memory"},
	{"RP-DRV-001", Warning, 0, "this build has no data path for the driver"},

	{"RP-LIM-001", Error, exitFailed, "the device has no more objects of a kind"},
	{"RP-LIM-002", Warning, 0, "a limit of the device is nearly reached"},
	{"RP-LIM-003", Warning, 0, "few open files are allowed"},
	{"RP-LIM-004", Warning, 0, "a listener takes few connect requests at once"},

	{"RP-CNT-001", Warning, 0, "errors are being counted right now"},
	{"RP-CNT-002", Note, 0, "errors were counted since the device was made"},
	{"RP-CNT-003", Note, 0, "counters cannot be read"},
}
