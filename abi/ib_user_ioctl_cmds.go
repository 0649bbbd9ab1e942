// This file mirrors the objects and name spaces of include/uapi/rdma/ib_user_ioctl_cmds.h.
// Methods and attributes follow in the files named ib_user_ioctl_cmds_*.go. Identifiers
// count from zero per object (methods) and per method (attributes).

package abi

// The high 4 bits of object, method and attribute numbers are a name space: 0 for the
// core, 1 for drivers.
const (
	UVERBS_ID_NS_MASK  = 0xF000
	UVERBS_ID_NS_SHIFT = 12
)

// UverbsDefaultObjects is enum uverbs_default_objects, the object types of the core, the
// value of IBUverbsIoctlHdr.ObjectID. DMAH, DMABUF and COMP_CNTR exist in Linux 7.3, not
// in 6.12.
type UverbsDefaultObjects uint32

// Values of UverbsDefaultObjects.
const (
	UVERBS_OBJECT_DEVICE       UverbsDefaultObjects = 0
	UVERBS_OBJECT_PD           UverbsDefaultObjects = 1
	UVERBS_OBJECT_COMP_CHANNEL UverbsDefaultObjects = 2
	UVERBS_OBJECT_CQ           UverbsDefaultObjects = 3
	UVERBS_OBJECT_QP           UverbsDefaultObjects = 4
	UVERBS_OBJECT_SRQ          UverbsDefaultObjects = 5
	UVERBS_OBJECT_AH           UverbsDefaultObjects = 6
	UVERBS_OBJECT_MR           UverbsDefaultObjects = 7
	UVERBS_OBJECT_MW           UverbsDefaultObjects = 8
	UVERBS_OBJECT_FLOW         UverbsDefaultObjects = 9
	UVERBS_OBJECT_XRCD         UverbsDefaultObjects = 10
	UVERBS_OBJECT_RWQ_IND_TBL  UverbsDefaultObjects = 11
	UVERBS_OBJECT_WQ           UverbsDefaultObjects = 12
	UVERBS_OBJECT_FLOW_ACTION  UverbsDefaultObjects = 13
	UVERBS_OBJECT_DM           UverbsDefaultObjects = 14
	UVERBS_OBJECT_COUNTERS     UverbsDefaultObjects = 15
	UVERBS_OBJECT_ASYNC_EVENT  UverbsDefaultObjects = 16
	UVERBS_OBJECT_DMAH         UverbsDefaultObjects = 17
	UVERBS_OBJECT_DMABUF       UverbsDefaultObjects = 18
	UVERBS_OBJECT_COMP_CNTR    UverbsDefaultObjects = 19
)

// The driver name space, and the two attributes every method with a driver payload takes.
const (
	UVERBS_ID_DRIVER_NS          = 4096
	UVERBS_ATTR_UHW_IN           = 4096
	UVERBS_ATTR_UHW_OUT          = 4097
	UVERBS_ID_DRIVER_NS_WITH_UHW = 4098
)
