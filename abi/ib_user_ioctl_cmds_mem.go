// This file mirrors the methods and attributes of PD, MR, MW, device memory, DMA handle
// and dma-buf of include/uapi/rdma/ib_user_ioctl_cmds.h.

package abi

// UverbsAttrsAllocDmCmdAttrIds is enum uverbs_attrs_alloc_dm_cmd_attr_ids, the attributes
// of UVERBS_METHOD_DM_ALLOC.
type UverbsAttrsAllocDmCmdAttrIds uint32

// Values of UverbsAttrsAllocDmCmdAttrIds.
const (
	UVERBS_ATTR_ALLOC_DM_HANDLE    UverbsAttrsAllocDmCmdAttrIds = 0
	UVERBS_ATTR_ALLOC_DM_LENGTH    UverbsAttrsAllocDmCmdAttrIds = 1
	UVERBS_ATTR_ALLOC_DM_ALIGNMENT UverbsAttrsAllocDmCmdAttrIds = 2
)

// UverbsAttrsFreeDmCmdAttrIds is enum uverbs_attrs_free_dm_cmd_attr_ids, the attributes of
// UVERBS_METHOD_DM_FREE.
type UverbsAttrsFreeDmCmdAttrIds uint32

// Values of UverbsAttrsFreeDmCmdAttrIds.
const (
	UVERBS_ATTR_FREE_DM_HANDLE UverbsAttrsFreeDmCmdAttrIds = 0
)

// UverbsMethodsDm is enum uverbs_methods_dm, the methods of UVERBS_OBJECT_DM, the value of
// IBUverbsIoctlHdr.MethodID.
type UverbsMethodsDm uint32

// Values of UverbsMethodsDm.
const (
	UVERBS_METHOD_DM_ALLOC UverbsMethodsDm = 0
	UVERBS_METHOD_DM_FREE  UverbsMethodsDm = 1
)

// UverbsAttrsAllocDmahCmdAttrIds is enum uverbs_attrs_alloc_dmah_cmd_attr_ids, the
// attributes of UVERBS_METHOD_DMAH_ALLOC. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsAllocDmahCmdAttrIds uint32

// Values of UverbsAttrsAllocDmahCmdAttrIds.
const (
	UVERBS_ATTR_ALLOC_DMAH_HANDLE       UverbsAttrsAllocDmahCmdAttrIds = 0
	UVERBS_ATTR_ALLOC_DMAH_CPU_ID       UverbsAttrsAllocDmahCmdAttrIds = 1
	UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE UverbsAttrsAllocDmahCmdAttrIds = 2
	UVERBS_ATTR_ALLOC_DMAH_PH           UverbsAttrsAllocDmahCmdAttrIds = 3
)

// UverbsAttrsFreeDmahCmdAttrIds is enum uverbs_attrs_free_dmah_cmd_attr_ids, the
// attributes of UVERBS_METHOD_DMAH_FREE. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsFreeDmahCmdAttrIds uint32

// Values of UverbsAttrsFreeDmahCmdAttrIds.
const (
	UVERBS_ATTR_FREE_DMA_HANDLE UverbsAttrsFreeDmahCmdAttrIds = 0
)

// UverbsMethodsDmah is enum uverbs_methods_dmah, the methods of UVERBS_OBJECT_DMAH, the
// value of IBUverbsIoctlHdr.MethodID. Linux 7.3 has it, 6.12 has not.
type UverbsMethodsDmah uint32

// Values of UverbsMethodsDmah.
const (
	UVERBS_METHOD_DMAH_ALLOC UverbsMethodsDmah = 0
	UVERBS_METHOD_DMAH_FREE  UverbsMethodsDmah = 1
)

// UverbsAttrsAllocDmabufCmdAttrIds is enum uverbs_attrs_alloc_dmabuf_cmd_attr_ids, the
// attributes of UVERBS_METHOD_DMABUF_ALLOC. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsAllocDmabufCmdAttrIds uint32

// Values of UverbsAttrsAllocDmabufCmdAttrIds.
const (
	UVERBS_ATTR_ALLOC_DMABUF_HANDLE UverbsAttrsAllocDmabufCmdAttrIds = 0
	UVERBS_ATTR_ALLOC_DMABUF_PGOFF  UverbsAttrsAllocDmabufCmdAttrIds = 1
)

// UverbsMethodsDmabuf is enum uverbs_methods_dmabuf, the methods of UVERBS_OBJECT_DMABUF,
// the value of IBUverbsIoctlHdr.MethodID. Linux 7.3 has it, 6.12 has not.
type UverbsMethodsDmabuf uint32

// Values of UverbsMethodsDmabuf.
const (
	UVERBS_METHOD_DMABUF_ALLOC UverbsMethodsDmabuf = 0
)

// UverbsAttrsRegDmMRCmdAttrIds is enum uverbs_attrs_reg_dm_mr_cmd_attr_ids, the attributes
// of UVERBS_METHOD_DM_MR_REG.
type UverbsAttrsRegDmMRCmdAttrIds uint32

// Values of UverbsAttrsRegDmMRCmdAttrIds.
const (
	UVERBS_ATTR_REG_DM_MR_HANDLE       UverbsAttrsRegDmMRCmdAttrIds = 0
	UVERBS_ATTR_REG_DM_MR_OFFSET       UverbsAttrsRegDmMRCmdAttrIds = 1
	UVERBS_ATTR_REG_DM_MR_LENGTH       UverbsAttrsRegDmMRCmdAttrIds = 2
	UVERBS_ATTR_REG_DM_MR_PD_HANDLE    UverbsAttrsRegDmMRCmdAttrIds = 3
	UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS UverbsAttrsRegDmMRCmdAttrIds = 4
	UVERBS_ATTR_REG_DM_MR_DM_HANDLE    UverbsAttrsRegDmMRCmdAttrIds = 5
	UVERBS_ATTR_REG_DM_MR_RESP_LKEY    UverbsAttrsRegDmMRCmdAttrIds = 6
	UVERBS_ATTR_REG_DM_MR_RESP_RKEY    UverbsAttrsRegDmMRCmdAttrIds = 7
)

// UverbsMethodsMR is enum uverbs_methods_mr, the methods of UVERBS_OBJECT_MR, the value of
// IBUverbsIoctlHdr.MethodID. REG_DMABUF_MR is newer than Linux 5.10, REG_MR exists in 7.3,
// not in 6.12.
type UverbsMethodsMR uint32

// Values of UverbsMethodsMR.
const (
	UVERBS_METHOD_DM_MR_REG     UverbsMethodsMR = 0
	UVERBS_METHOD_MR_DESTROY    UverbsMethodsMR = 1
	UVERBS_METHOD_ADVISE_MR     UverbsMethodsMR = 2
	UVERBS_METHOD_QUERY_MR      UverbsMethodsMR = 3
	UVERBS_METHOD_REG_DMABUF_MR UverbsMethodsMR = 4
	UVERBS_METHOD_REG_MR        UverbsMethodsMR = 5
)

// UverbsAttrsMRDestroyIds is enum uverbs_attrs_mr_destroy_ids, the attributes of
// UVERBS_METHOD_MR_DESTROY.
type UverbsAttrsMRDestroyIds uint32

// Values of UverbsAttrsMRDestroyIds.
const (
	UVERBS_ATTR_DESTROY_MR_HANDLE UverbsAttrsMRDestroyIds = 0
)

// UverbsAttrsAdviseMRCmdAttrIds is enum uverbs_attrs_advise_mr_cmd_attr_ids, the
// attributes of UVERBS_METHOD_ADVISE_MR. SGE_LIST is an array of IBUverbsSGE.
type UverbsAttrsAdviseMRCmdAttrIds uint32

// Values of UverbsAttrsAdviseMRCmdAttrIds.
const (
	UVERBS_ATTR_ADVISE_MR_PD_HANDLE UverbsAttrsAdviseMRCmdAttrIds = 0
	UVERBS_ATTR_ADVISE_MR_ADVICE    UverbsAttrsAdviseMRCmdAttrIds = 1
	UVERBS_ATTR_ADVISE_MR_FLAGS     UverbsAttrsAdviseMRCmdAttrIds = 2
	UVERBS_ATTR_ADVISE_MR_SGE_LIST  UverbsAttrsAdviseMRCmdAttrIds = 3
)

// UverbsAttrsQueryMRCmdAttrIds is enum uverbs_attrs_query_mr_cmd_attr_ids, the attributes
// of UVERBS_METHOD_QUERY_MR.
type UverbsAttrsQueryMRCmdAttrIds uint32

// Values of UverbsAttrsQueryMRCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_MR_HANDLE      UverbsAttrsQueryMRCmdAttrIds = 0
	UVERBS_ATTR_QUERY_MR_RESP_LKEY   UverbsAttrsQueryMRCmdAttrIds = 1
	UVERBS_ATTR_QUERY_MR_RESP_RKEY   UverbsAttrsQueryMRCmdAttrIds = 2
	UVERBS_ATTR_QUERY_MR_RESP_LENGTH UverbsAttrsQueryMRCmdAttrIds = 3
	UVERBS_ATTR_QUERY_MR_RESP_IOVA   UverbsAttrsQueryMRCmdAttrIds = 4
)

// UverbsAttrsRegDmabufMRCmdAttrIds is enum uverbs_attrs_reg_dmabuf_mr_cmd_attr_ids, the
// attributes of UVERBS_METHOD_REG_DMABUF_MR. Newer than Linux 5.10, present in 6.1.
type UverbsAttrsRegDmabufMRCmdAttrIds uint32

// Values of UverbsAttrsRegDmabufMRCmdAttrIds.
const (
	UVERBS_ATTR_REG_DMABUF_MR_HANDLE       UverbsAttrsRegDmabufMRCmdAttrIds = 0
	UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE    UverbsAttrsRegDmabufMRCmdAttrIds = 1
	UVERBS_ATTR_REG_DMABUF_MR_OFFSET       UverbsAttrsRegDmabufMRCmdAttrIds = 2
	UVERBS_ATTR_REG_DMABUF_MR_LENGTH       UverbsAttrsRegDmabufMRCmdAttrIds = 3
	UVERBS_ATTR_REG_DMABUF_MR_IOVA         UverbsAttrsRegDmabufMRCmdAttrIds = 4
	UVERBS_ATTR_REG_DMABUF_MR_FD           UverbsAttrsRegDmabufMRCmdAttrIds = 5
	UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS UverbsAttrsRegDmabufMRCmdAttrIds = 6
	UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY    UverbsAttrsRegDmabufMRCmdAttrIds = 7
	UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY    UverbsAttrsRegDmabufMRCmdAttrIds = 8
)

// UverbsAttrsRegMRCmdAttrIds is enum uverbs_attrs_reg_mr_cmd_attr_ids, the attributes of
// UVERBS_METHOD_REG_MR. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsRegMRCmdAttrIds uint32

// Values of UverbsAttrsRegMRCmdAttrIds.
const (
	UVERBS_ATTR_REG_MR_HANDLE       UverbsAttrsRegMRCmdAttrIds = 0
	UVERBS_ATTR_REG_MR_PD_HANDLE    UverbsAttrsRegMRCmdAttrIds = 1
	UVERBS_ATTR_REG_MR_DMA_HANDLE   UverbsAttrsRegMRCmdAttrIds = 2
	UVERBS_ATTR_REG_MR_IOVA         UverbsAttrsRegMRCmdAttrIds = 3
	UVERBS_ATTR_REG_MR_ADDR         UverbsAttrsRegMRCmdAttrIds = 4
	UVERBS_ATTR_REG_MR_LENGTH       UverbsAttrsRegMRCmdAttrIds = 5
	UVERBS_ATTR_REG_MR_ACCESS_FLAGS UverbsAttrsRegMRCmdAttrIds = 6
	UVERBS_ATTR_REG_MR_FD           UverbsAttrsRegMRCmdAttrIds = 7
	UVERBS_ATTR_REG_MR_FD_OFFSET    UverbsAttrsRegMRCmdAttrIds = 8
	UVERBS_ATTR_REG_MR_RESP_LKEY    UverbsAttrsRegMRCmdAttrIds = 9
	UVERBS_ATTR_REG_MR_RESP_RKEY    UverbsAttrsRegMRCmdAttrIds = 10
)

// UverbsMethodsPD is enum uverbs_methods_pd, the methods of UVERBS_OBJECT_PD, the value of
// IBUverbsIoctlHdr.MethodID.
type UverbsMethodsPD uint32

// Values of UverbsMethodsPD.
const (
	UVERBS_METHOD_PD_DESTROY UverbsMethodsPD = 0
)

// UverbsAttrsPDDestroyIds is enum uverbs_attrs_pd_destroy_ids, the attributes of
// UVERBS_METHOD_PD_DESTROY.
type UverbsAttrsPDDestroyIds uint32

// Values of UverbsAttrsPDDestroyIds.
const (
	UVERBS_ATTR_DESTROY_PD_HANDLE UverbsAttrsPDDestroyIds = 0
)

// UverbsMethodsMW is enum uverbs_methods_mw, the methods of UVERBS_OBJECT_MW, the value of
// IBUverbsIoctlHdr.MethodID.
type UverbsMethodsMW uint32

// Values of UverbsMethodsMW.
const (
	UVERBS_METHOD_MW_DESTROY UverbsMethodsMW = 0
)

// UverbsAttrsMWDestroyIds is enum uverbs_attrs_mw_destroy_ids, the attributes of
// UVERBS_METHOD_MW_DESTROY.
type UverbsAttrsMWDestroyIds uint32

// Values of UverbsAttrsMWDestroyIds.
const (
	UVERBS_ATTR_DESTROY_MW_HANDLE UverbsAttrsMWDestroyIds = 0
)
